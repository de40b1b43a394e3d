//! Empty: the manifest beside it is all that this package is.

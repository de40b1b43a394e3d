"""What evaluation/run is made of.

graphs    what is measured
machine   on what
plan      the measurements, each with a key: plan.jobs lists them
programs  how fastlbp and its peers are called
results   what is known so far, by key, in a file to which each result is appended
report    tables and figures from the results
svg       the figures
"""

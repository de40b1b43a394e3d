# Compares two files of words, given side by side line by line with a tab between: numbers by `within`, other words as
# they are. Exits with 1 and the first ten differences. The second number of a line "run ..." and all whole numbers must
# be equal.
BEGIN { FS = "\t" }
{
    n = split($1, a, " "); m = split($2, b, " ")
    bad = n != m
    for (i = 1; i <= n && !bad; i++) {
        if (a[i] == b[i]) continue
        is_real = a[i] ~ /[.e]/ || b[i] ~ /[.e]/
        d = a[i] - b[i]
        bad = !is_real || !(d <= within && -d <= within)
    }
    if (bad && count++ < 10) print FILENAME ":" FNR ": " $1 " | " $2
}
END { print NR " lines, " count + 0 " differences"; exit count > 0 }

# Compares two files of lines "name: number number ...", given side by side with a tab between: whole numbers must be
# equal, others within `within`. Lines that say "undecided" in one of the files are counted only. Exits with 1 and the
# first ten differences.
BEGIN { FS = "\t" }
/: undecided(\t|$)/ { undecided++; next }
{
    n = split($1, a, " "); m = split($2, b, " ")
    bad = n != m
    for (i = 1; i <= n && !bad; i++) {
        if (a[i] == b[i]) continue
        is_number = a[i] ~ /^-?[0-9]/ && b[i] ~ /^-?[0-9]/
        is_real = a[i] ~ /[.e]/ || b[i] ~ /[.e]/
        d = a[i] - b[i]
        bad = !is_number || !is_real || !(d <= within && -d <= within)
    }
    if (bad && count++ < 10) print substr($1, 1, 300) " | " substr($2, index($2, ": "), 200)
}
END { print NR - undecided " compared, " count + 0 " differ; " undecided + 0 " undecided"; exit count > 0 }

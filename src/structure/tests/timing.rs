//! How long it takes, run by hand in a release build:
//! `cargo test --release --lib structure::tests::timing -- --ignored --nocapture`.

use super::*;
use std::time::Instant;

fn report(name: &str, cardinalities: &[u32], mut make: impl FnMut(&mut Random) -> Vec<f64>) {
    let mut random = Random(1);
    let entries: usize = cardinalities.iter().map(|&c| c as usize).product();
    let tables: Vec<Vec<f64>> =
        (0..((1 << 20) / entries).clamp(5, 1 << 16)).map(|_| make(&mut random)).collect();
    let start = Instant::now();
    let structured = tables
        .iter()
        .filter(|values| recognise(values, cardinalities).unwrap().structure != Structure::Dense)
        .count();
    let each = start.elapsed().as_secs_f64() / tables.len() as f64;
    println!(
        "{name:28} {entries:8} entries {:12.3} us {:8.2} ns/entry, structured {structured} of {}",
        1e6 * each,
        1e9 * each / entries as f64,
        tables.len(),
    );
}

#[test]
#[ignore = "measures; says nothing of what is right"]
fn timing() {
    for arity in [2, 3, 4, 5, 8, 10, 14, 17, 20] {
        let binary = vec![2; arity];
        for values in [1 << 50, 2, 4] {
            let name = format!("random, {values} values");
            report(&name, &binary, |random| table(&binary, |_| (random.below(values) + 1) as f64));
        }
        report("random with zeros", &binary, |random| {
            table(&binary, |_| (random.below(16) / 15) as f64 * random.unit())
        });
        for head in [0, arity - 1] {
            report(&format!("and, head {head}"), &binary, |_| {
                table(&binary, |x| {
                    let holds = x.iter().enumerate().all(|(i, &x)| i == head || x == 1);
                    [[0.75, 0.25], [0.125, 0.875]][usize::from(holds)][x[head]]
                })
            });
        }
        report("pair at the end", &binary, |_| {
            let mut entries = vec![0.5; 1 << arity];
            let last = entries.len() - 1;
            (entries[last], entries[last / 2]) = (0.25, 0.75);
            entries
        });
        report("one entry of the last head", &binary, |_| {
            table(&binary, |x| f64::from(x[1..].iter().sum::<usize>() + 1 >= arity) * x[0] as f64)
        });
        for at_end in [false, true] {
            report("three positive entries", &binary, |_| {
                let mut entries = vec![0.0; 1 << arity];
                let last = if at_end { entries.len() - 1 } else { 0 };
                for at in [0, 3, 5] {
                    let at = at & (entries.len() - 1);
                    entries[at ^ last] = 0.5 + at as f64;
                }
                entries
            });
        }
        report("one entry in 1024 positive", &binary, |random| {
            table(&binary, |_| if random.below(1024) == 0 { random.unit() } else { 0.0 })
        });
        report("noisy or", &binary, |_| {
            table(&binary, |x| {
                let none: f64 = x[1..].iter().map(|&x| [1.0, 0.75][x]).product();
                if x[0] == 0 { none } else { 1.0 - none }
            })
        });
        report("parity", &binary, |_| table(&binary, |x| (x.iter().sum::<usize>() % 2) as f64));
        report("three contexts", &binary, |_| {
            let last = arity - 1;
            table(&binary, |x| [[0.1, 0.2], [0.3, 0.4]][x[0]][x[x[0] * last]])
        });
    }
    let mixed = [3, 4, 2, 5, 3, 2, 4, 3];
    report("random, mixed", &mixed, |random| table(&mixed, |_| random.unit()));
}

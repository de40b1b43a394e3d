//! What `--trace` writes: a line, or an object, for each iteration.

use crate::failure::{Failure, Outcome};
use crate::observe::{Iteration, ObserveArguments, ObservedRun, TraceFormat};
use fastlbp::format::{push_f64, save_text};
use serde_json::{Value, json};
use std::io::{self, Write};

const HEAD: &str = "run,iteration,largest_change,unconverged,contradictions,seconds";

/// Writes the trace of all runs, if there is to be one.
pub fn write(arguments: &ObserveArguments, runs: &[ObservedRun]) -> Outcome {
    let Some((path, format)) = arguments.trace()? else { return Ok(()) };
    let written = save_text(path, |sink| match format {
        TraceFormat::Csv => write_csv(runs, sink),
        TraceFormat::Json => write_json(runs, sink),
    });
    written.map_err(Failure::output)
}

fn write_csv(runs: &[ObservedRun], sink: &mut dyn Write) -> io::Result<()> {
    writeln!(sink, "{HEAD}")?;
    let mut line = Vec::new();
    for run in runs {
        let name = csv_field(&run.name);
        for iteration in &run.iterations {
            let Iteration { number, largest_change, unconverged, contradictions, seconds } =
                *iteration;
            line.clear();
            write!(line, "{name},{number},")?;
            push_finite(&mut line, Some(largest_change));
            line.push(b',');
            push_finite(&mut line, unconverged);
            line.push(b',');
            if let Some(count) = contradictions {
                write!(line, "{count}")?;
            }
            writeln!(line, ",{seconds:.6}")?;
            sink.write_all(&line)?;
        }
    }
    Ok(())
}

/// One object per run, in a line each, so that no large document is made in memory.
fn write_json(runs: &[ObservedRun], sink: &mut dyn Write) -> io::Result<()> {
    write!(sink, "{{\"runs\":[")?;
    for (position, run) in runs.iter().enumerate() {
        write!(sink, "{}", if position == 0 { "\n" } else { ",\n" })?;
        let iterations: Vec<Value> = run.iterations.iter().map(of_iteration).collect();
        write!(sink, "{}", json!({ "name": run.name, "iterations": iterations }))?;
    }
    writeln!(sink, "\n]}}")
}

fn of_iteration(iteration: &Iteration) -> Value {
    json!({
        "iteration": iteration.number,
        // `null` where it is not finite, as before anything is measured.
        "largest_change": iteration.largest_change,
        "unconverged": iteration.unconverged,
        "contradictions": iteration.contradictions,
        "seconds": iteration.seconds,
    })
}

/// The shortest text that reads back to the same number; nothing where there is none.
fn push_finite(line: &mut Vec<u8>, value: Option<f64>) {
    if let Some(value) = value.filter(|value| value.is_finite()) {
        push_f64(line, value);
    }
}

/// A name as RFC 4180 has it.
fn csv_field(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs() -> [ObservedRun; 2] {
        let iteration = Iteration {
            number: 1,
            largest_change: 0.25,
            unconverged: Some(0.5),
            contradictions: Some(3),
            seconds: 0.0625,
        };
        let unknown = Iteration {
            largest_change: f64::INFINITY,
            unconverged: None,
            contradictions: None,
            ..iteration
        };
        let run = |name: &str, iteration| ObservedRun {
            name: name.to_string(),
            iterations: vec![iteration],
        };
        [run("a,\"b\"", iteration), run("", unknown)]
    }

    #[test]
    fn lines() {
        let mut text = Vec::new();
        write_csv(&runs(), &mut text).unwrap();
        let wanted = format!("{HEAD}\n\"a,\"\"b\"\"\",1,0.25,0.5,3,0.062500\n,1,,,,0.062500\n");
        assert_eq!(String::from_utf8(text).unwrap(), wanted);
    }

    #[test]
    fn objects() {
        let mut text = Vec::new();
        write_json(&runs(), &mut text).unwrap();
        let value: Value = serde_json::from_slice(&text).unwrap();
        let first = &value["runs"][0];
        assert_eq!(
            (&first["name"], &first["iterations"][0]["contradictions"]),
            (&json!("a,\"b\""), &json!(3))
        );
        assert_eq!(value["runs"][1]["iterations"][0]["largest_change"], Value::Null);
        let mut none = Vec::new();
        write_json(&[], &mut none).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&none).unwrap(), json!({ "runs": [] }));
    }
}

//! Opening a page in a browser without a window: chromium, which `scripts/test` installs where it can be had.

use crate::common::report_skipped;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names under which systems have the browser.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const PATIENCE: Duration = Duration::from_secs(120);

/// What is seen of a page.
#[derive(Debug)]
pub struct Seen {
    pub figures: Vec<Figure>,
    pub text: String,
    /// Number of things that were fetched besides the page.
    pub loaded: u64,
    /// Number of colours on a picture of the page.
    pub colours: usize,
}

/// A figure as it is laid out, in pixels.
#[derive(Debug)]
pub struct Figure {
    pub width: f64,
    pub height: f64,
    /// Lines, areas, points and bars of some extent.
    pub marks: u64,
    /// Texts and marks that are cut off by the edges.
    pub outside: u64,
}

/// Asks the page's layout, and leaves the answer where it can be read.
const SCRIPT: &str = "<script>
addEventListener('load', () => {
    const figures = [...document.querySelectorAll('svg')].map(svg => {
        const frame = svg.getBoundingClientRect();
        const boxes = [...svg.querySelectorAll('polyline, rect, circle, path, text')]
            .map(mark => [mark.tagName, mark.getBoundingClientRect()]);
        const isOut = b => b.left < frame.left - 2 || b.right > frame.right + 2
            || b.top < frame.top - 2 || b.bottom > frame.bottom + 2;
        return {
            width: frame.width, height: frame.height,
            marks: boxes.filter(([name, b]) => name != 'text' && b.width + b.height > 4).length,
            outside: boxes.filter(([, b]) => isOut(b)).length,
        };
    });
    const answer = {
        figures, text: document.body.innerText, loaded: performance.getEntriesByType('resource').length,
    };
    document.documentElement.innerHTML = '';
    document.documentElement.textContent = 'ANSWER' + encodeURIComponent(JSON.stringify(answer)) + 'END';
});
</script>";

/// Opens a page; `None`, reported as skipped, without a browser.
pub fn open(page: &Path) -> Option<Seen> {
    let Some(browser) = NAMES.iter().find(|name| is_there(name)) else {
        report_skipped("there is no browser chromium");
        return None;
    };
    let profile = tempfile::tempdir().unwrap();
    // The page itself runs nothing; a copy of it may.
    let text = fs::read_to_string(page).unwrap();
    let start = text.find("<meta http-equiv=\"Content-Security-Policy\"").expect("a policy");
    let end = start + text[start..].find('>').unwrap() + 1;
    let copy = profile.path().join("copy.html");
    fs::write(&copy, format!("{}{SCRIPT}{}", &text[..start], &text[end..])).unwrap();
    let dumped = run(browser, profile.path(), &copy, &["--dump-dom"]);
    let answer = dumped.split("ANSWER").nth(1).and_then(|rest| rest.split("END").next());
    let answer = answer.unwrap_or_else(|| panic!("no answer: {dumped}"));
    let answer: Value = serde_json::from_str(&percent_decoded(answer)).unwrap();
    let figure = |value: &Value| Figure {
        width: value["width"].as_f64().unwrap(),
        height: value["height"].as_f64().unwrap(),
        marks: value["marks"].as_u64().unwrap(),
        outside: value["outside"].as_u64().unwrap(),
    };
    let picture = profile.path().join("picture.png");
    let screenshot = format!("--screenshot={}", picture.display());
    run(browser, profile.path(), page, &[&screenshot, "--window-size=1000,4000"]);
    if let Some(kept) = std::env::var_os("FASTLBP_KEEP_PICTURES") {
        let name = page.with_extension("png");
        fs::copy(&picture, Path::new(&kept).join(name.file_name().unwrap())).unwrap();
    }
    Some(Seen {
        figures: answer["figures"].as_array().unwrap().iter().map(figure).collect(),
        text: answer["text"].as_str().unwrap().to_string(),
        loaded: answer["loaded"].as_u64().unwrap(),
        colours: colours(&picture),
    })
}

fn is_there(program: &str) -> bool {
    let status =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What the browser prints. It is ended if it hangs, which headless ones sometimes do at their end.
fn run(browser: &str, profile: &Path, page: &Path, arguments: &[&str]) -> String {
    let printed = profile.join("printed");
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
        ])
        .args([
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--virtual-time-budget=5000",
        ])
        .arg(format!("--user-data-dir={}", profile.join("profile").display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(fs::File::create(&printed).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the browser did not end: {}", fs::read_to_string(&printed).unwrap_or_default());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::read_to_string(&printed).unwrap()
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits: String = rest.by_ref().take(2).map(char::from).collect();
            bytes.push(u8::from_str_radix(&digits, 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Number of different pixels of a picture, as its filters have left them: a page on which nothing is painted has one.
fn colours(picture: &Path) -> usize {
    use std::io::Read;
    let bytes = fs::read(picture).unwrap();
    let mut compressed = Vec::new();
    let mut at = 8;
    while at + 8 <= bytes.len() {
        let length = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        if &bytes[at + 4..at + 8] == b"IDAT" {
            compressed.extend_from_slice(&bytes[at + 8..at + 8 + length]);
        }
        at += 12 + length;
    }
    let mut pixels = Vec::new();
    flate2::read::ZlibDecoder::new(&compressed[..]).read_to_end(&mut pixels).unwrap();
    pixels.chunks(3).collect::<std::collections::HashSet<_>>().len()
}

//! Prints messages to standard error: one line each, without control characters, never failing.

use std::borrow::Cow;
use std::io::Write;

use robust_td_data::path_name::byte_of;

/// The longest message in characters; of a longer one the middle is left out, because the remedy is at its end.
const LONGEST: usize = 4000;
/// The characters that are kept at the end of a longer one.
const END: usize = 1000;

/// Prints a message; a standard error that is full or closed is no reason to fail.
pub fn print(message: &str) {
    write(&one_line(message));
}

/// Prints a message of several lines, if there is one.
pub fn print_lines(message: &str) {
    let lines: Vec<String> = (message.lines()).map(|line| escaped(&cut(line))).collect();
    if !lines.is_empty() {
        write(&lines.join("\n"));
    }
}

/// Prints a line of JSON, which has no control characters and may be long.
pub fn print_json(value: &serde_json::Value) {
    write(&value.to_string());
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // In one piece, so that lines of several processes do not mix.
    let _ = stderr.write_all(format!("{text}\n").as_bytes());
}

/// A message as one line.
pub fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    escaped(&cut(&lines.join(" ")))
}

/// A text without what would move the cursor or change the terminal, except line feeds.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => safe.push(c),
            '\t' => safe.push_str("\\t"),
            c if c.is_control() || is_invisible(c) => safe.extend(c.escape_unicode()),
            c => match byte_of(c) {
                Some(byte) => safe.push_str(&format!("\\x{byte:02x}")),
                None => safe.push(c),
            },
        }
    }
    safe
}

/// Marks that change the direction of text, or separate lines.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

fn cut(text: &str) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.into();
    }
    let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
    let (start, end) = (&text[..at(LONGEST - END)], &text[at(count - END)..]);
    format!(
        "{start} ... ({} characters left out) ... {end}",
        count - LONGEST
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_safe_line() {
        assert_eq!(
            one_line("a\u{1b}[31m\u{7}b\r\n  c\td\u{202e}\u{9b}"),
            "a\\u{1b}[31m\\u{7}b c\\td\\u{202e}\\u{9b}"
        );
        assert_eq!(one_line("n\u{10ffff}.csv"), "n\\xff.csv");
        assert_eq!(one_line("größer: 日本 \"x\""), "größer: 日本 \"x\"");
    }

    #[test]
    fn long_messages_keep_both_ends() {
        let long = format!("log.csv: \"{}\"; use --format", "é".repeat(2_000_000));
        let line = one_line(&long);
        assert!(line.chars().count() < LONGEST + 50);
        assert!(line.starts_with("log.csv: \"é") && line.ends_with("use --format"));
        assert!(line.contains("characters left out"));
    }
}

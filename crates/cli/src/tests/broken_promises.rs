//! Broken promises are an error with the first of them, and others are none.
use flick_device::dtu::PromiseCounts;

use super::{line, verdict};

#[test]
fn broken_promises_are_an_error() {
    let mut counts = PromiseCounts {
        messages: 1_234,
        ..PromiseCounts::default()
    };
    assert!(verdict(counts, &[]).is_ok());
    counts.broken = 2;
    let broken = ["message 1 came twice".to_owned(), "a second one".to_owned()];
    let error = verdict(counts, &broken).unwrap_err();
    assert_eq!(error.code.text(), "FLK0640");
    assert!(error.what.contains("2 promises"), "{}", error.what);
    assert_eq!(error.why, "message 1 came twice\na second one");
    assert!(line(counts).contains("1,234 messages"), "{}", line(counts));
}

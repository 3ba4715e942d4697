//! Waits for a program that distributes points, and counts the results that appear meanwhile.
use std::io;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use crate::result_files::Store;
use crate::sweep_plan::Plan;
use crate::sweep_progress::Progress;

/// How long the first pause is, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

pub fn for_end(
    mut child: Child,
    (plan, store): (&Plan, &Store),
    progress: &Progress,
) -> io::Result<ExitStatus> {
    let mut pause = PAUSES.0;
    let mut left: Vec<usize> = (0..plan.points.len()).collect();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSES.1);
        if pause == PAUSES.1 {
            left.retain(|&number| !store.has_ended(&plan.points[number].key));
            progress.reached(plan.points.len() - left.len());
        }
    }
}

/// Waits a moment for files that another node has written, because a network's file system shows them
/// late.
pub fn for_files(plan: &Plan, store: &Store) {
    for _ in 0..10 {
        if plan.points.iter().all(|task| store.has_ended(&task.key)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

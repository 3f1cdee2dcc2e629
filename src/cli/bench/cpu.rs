//! Processor time, as Linux tells it. Elsewhere it is unknown and left out.

use std::fs;
use std::time::Duration;

/// The kernel counts processes in these, on every architecture in use.
const TICK: Duration = Duration::from_millis(10);

/// What this whole process has used, threads that ended included; in steps of 10 ms.
pub(super) fn of_process() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name and may hold anything but a last bracket.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let user: u32 = fields.nth(11)?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    TICK.checked_mul(user.checked_add(system)?)
}

/// What the calling thread has used.
pub(super) fn of_thread() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = stat.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

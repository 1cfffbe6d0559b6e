//! macOS: the kernel's short record of a process, which has the time of its start.
#![allow(unsafe_code, reason = "the one call that tells when a process started")]

use super::{Sight, signal};

pub(super) fn look(pid: u32) -> Sight {
    signal::look(pid, || started_ms(pid))
}

fn started_ms(pid: u32) -> Option<u64> {
    let pid = i32::try_from(pid).ok()?;
    let size = i32::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    let mut record = std::mem::MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    // SAFETY: the buffer is as long as said, and the kernel writes at most that many bytes.
    let written = unsafe {
        libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, record.as_mut_ptr().cast(), size)
    };
    if written != size {
        return None;
    }
    // SAFETY: all of it was written, and before that it was zero, which is a value of every field.
    let record = unsafe { record.assume_init() };
    Some(record.pbi_start_tvsec * 1000 + record.pbi_start_tvusec / 1000)
}

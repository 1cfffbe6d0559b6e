//! Windows: a handle to the process, its times, and whether it has ended.
#![allow(unsafe_code, reason = "the calls that tell whether a process runs and when it started")]

use windows_sys::Win32::{
    Foundation::{
        CloseHandle, ERROR_INVALID_PARAMETER, FILETIME, GetLastError, HANDLE, WAIT_OBJECT_0,
    },
    System::Threading::{
        GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE,
        WaitForSingleObject,
    },
};

use super::Sight;

/// Between 1601, from which Windows counts, and 1970, in milliseconds.
const EPOCH_MS: u64 = 11_644_473_600_000;

/// A handle that is closed when it goes out of use.
struct Process(HANDLE);

impl Drop for Process {
    fn drop(&mut self) {
        // SAFETY: the handle was opened by `look` and is closed once.
        unsafe { CloseHandle(self.0) };
    }
}

pub(super) fn look(pid: u32) -> Sight {
    let access = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
    // SAFETY: no pointer is passed.
    let handle = unsafe { OpenProcess(access, 0, pid) };
    if handle.is_null() {
        // SAFETY: reads a number of this thread.
        let error = unsafe { GetLastError() };
        // The system's way to say that no process has this pid.
        return if error == ERROR_INVALID_PARAMETER {
            Sight::Absent
        } else {
            Sight::Denied(i32::try_from(error).unwrap_or(i32::MAX))
        };
    }
    let process = Process(handle);
    // SAFETY: the handle is open and allows waiting.
    let ended = unsafe { WaitForSingleObject(process.0, 0) } == WAIT_OBJECT_0;
    if ended { Sight::Absent } else { Sight::Running(started_ms(&process)) }
}

fn started_ms(process: &Process) -> Option<u64> {
    let zero = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    let (mut created, mut ended, mut kernel, mut user) = (zero, zero, zero, zero);
    // SAFETY: the handle is open, and all four places outlive the call.
    let read =
        unsafe { GetProcessTimes(process.0, &mut created, &mut ended, &mut kernel, &mut user) };
    let ticks = u64::from(created.dwHighDateTime) << 32 | u64::from(created.dwLowDateTime);
    (read != 0).then(|| ticks / 10_000)?.checked_sub(EPOCH_MS)
}

//! Which CPUs there are for us, and how a worker thread is pinned to some of them.
//!
//! A child inherits the CPUs of the thread that starts it, so pinning the worker is all that is needed.

/// The CPUs that this process may use, ascending; one entry `0` where the system does not say.
#[must_use]
pub fn usable() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    if let Ok(set) = rustix::thread::sched_getaffinity(None) {
        return (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
    }
    (0..std::thread::available_parallelism().map_or(1, usize::from)).collect()
}

/// Pins the calling thread to these CPUs.
///
/// # Errors
/// If the system refuses. Where threads can't be pinned this does nothing, and says so with `false`.
pub fn pin(cpus: &[usize]) -> std::io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        let mut set = rustix::thread::CpuSet::new();
        cpus.iter().for_each(|&cpu| set.set(cpu));
        rustix::thread::sched_setaffinity(None, &set)?;
        Ok(true)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = cpus;
        Ok(false)
    }
}

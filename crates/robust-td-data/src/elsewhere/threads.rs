//! Computes the parts of a job on threads of this process, merged as any other engine merges them.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Engine, Tasks, compute_here, merge_states};
use crate::error::{Error, Result};
use crate::fold::FAN;
use crate::monitor::Monitor;
use crate::reading::Here;
use crate::stored::Stores;

/// An engine of threads.
pub(crate) struct Threads {
    pub threads: usize,
    /// Counts the rows that are read, and stops the work.
    pub monitor: Monitor,
    pub stores: Stores,
}

impl Engine for Threads {
    fn run(&mut self, _: &'static str, description: Vec<u8>, tasks: Tasks) -> Result<Vec<u8>> {
        let next = AtomicUsize::new(0);
        let states = Mutex::new(vec![None; tasks.len()]);
        let failed = Mutex::new(None);
        let fail = |k: usize, error: Error| {
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            // The first in the log, as far as tasks have run.
            if failed.as_ref().is_none_or(|(first, _)| k < *first) {
                *failed = Some((k, error));
            }
            next.store(tasks.len(), Ordering::Relaxed);
        };
        let work = || {
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = tasks.get(k) else {
                    return;
                };
                let here = Here {
                    monitor: self.monitor.clone(),
                    stores: self.stores.clone(),
                    ..Here::default()
                };
                match compute_here(&description, &task, 1, here) {
                    Ok(state) => {
                        let mut states = states.lock().unwrap_or_else(PoisonError::into_inner);
                        states[k] = Some(state);
                    }
                    Err(error) => return fail(k, error),
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.clamp(1, tasks.len().max(1)) {
                scope.spawn(work);
            }
            work();
        });
        if let Some((_, error)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let states = states.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut states: Vec<Vec<u8>> = states.into_iter().flatten().collect();
        while states.len() > 1 {
            let groups = states.chunks(FAN as usize);
            let merged = groups.map(|group| {
                let group = group.iter().map(Vec::as_slice);
                merge_states(&description, group)
            });
            states = merged.collect::<Result<_>>()?;
        }
        states.pop().ok_or(Error::NoTransitions)
    }
}

//! A task on its own.

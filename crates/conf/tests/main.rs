//! The table against Hadoop's defaults, and layering of files, as a daemon sees them.

mod defaults;
mod layers;

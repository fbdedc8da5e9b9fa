//! Random operations against a naive model.

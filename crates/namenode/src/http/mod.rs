//! The HTTP server: `/jmx`, status pages, WebHDFS.

mod beans;

//! Site files in order, overrides on top: which value a key has, and where it came from.

use crate::error::ConfError;
use crate::keys::{self, Key, KeyRow};
use crate::site_xml::FindInclude;
use crate::value::{Addr, Value};
use crate::{expand, site_xml};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Names of the site files, in the order in which they are read: later ones win.
pub const SITE_FILES: [&str; 2] = ["core-site.xml", "hdfs-site.xml"];

/// A set value, as written.
#[derive(Clone, Debug)]
struct Entry {
    value: String,
    source: Arc<str>,
    is_final: bool,
}

/// Configuration values by key. Keys that nothing sets have the default of their row in `keys`.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    entries: HashMap<String, Entry>,
    /// What Java calls system properties: `user.name`, `user.home`, `java.io.tmpdir`.
    properties: HashMap<String, String>,
    warnings: Vec<String>,
}

impl Configuration {
    /// Only defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The properties of site files, given as (file name, text) in the order in which they are read. A later one wins,
    /// except over a final property, be it of the same file.
    ///
    /// # Errors
    /// A file that does not parse.
    pub fn from_texts<N: AsRef<str>, T: AsRef<str>>(
        texts: impl IntoIterator<Item = (N, T)>,
    ) -> Result<Self, ConfError> {
        let mut conf = Self::new();
        for (name, text) in texts {
            conf.add_text(name.as_ref(), text.as_ref())?;
        }
        Ok(conf)
    }

    /// Lays one more site file over what is there; it may include no other.
    ///
    /// # Errors
    /// A text that does not parse.
    pub fn add_text(&mut self, file: &str, text: &str) -> Result<(), ConfError> {
        self.add_text_with(file, text, &|_, _| Err("a text without a place includes no files".to_string()))
    }

    /// Lays one more site file over what is there, with the files it includes. `find` opens them.
    ///
    /// # Errors
    /// A text that does not parse, or cannot be found.
    pub fn add_text_with(&mut self, file: &str, text: &str, find: &FindInclude<'_>) -> Result<(), ConfError> {
        let source: Arc<str> = Arc::from(file);
        for property in site_xml::parse(file, text, find)? {
            let name = keys::current_name(&property.name);
            let is_final = self.entries.get(name).is_some_and(|e| e.is_final);
            if is_final {
                self.warnings.push(format!("{file}: an attempt to override final parameter: {name}; ignored"));
                continue;
            }
            let entry = Entry { value: property.value, source: source.clone(), is_final: property.is_final };
            self.entries.insert(name.to_string(), entry);
        }
        Ok(())
    }

    /// Sets a value over all files, also over final ones. `source` is what errors will name: `-D`, `surus start`.
    pub fn set_from(&mut self, key: &str, value: impl Into<String>, source: &str) {
        let entry = Entry { value: value.into(), source: Arc::from(source), is_final: false };
        self.entries.insert(keys::current_name(key.trim()).to_string(), entry);
    }

    /// Sets a value over all files, also over final ones.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        self.set_from(key, value, "the program");
    }

    /// Takes a key back to its default.
    pub fn unset(&mut self, key: &str) {
        self.entries.remove(keys::current_name(key));
    }

    /// Sets a value only where nothing has set the key.
    pub fn set_if_unset(&mut self, key: &str, value: impl Into<String>, source: &str) {
        if !self.is_set(key) {
            self.set_from(key, value, source);
        }
    }

    /// One `-D key=value` argument.
    ///
    /// # Errors
    /// No `=`, or nothing before it.
    pub fn set_override(&mut self, argument: &str) -> Result<(), ConfError> {
        match argument.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                self.set_from(key, value, "-D");
                Ok(())
            }
            _ => Err(ConfError::Override { argument: argument.to_string() }),
        }
    }

    /// Sets what Java calls a system property; `${user.name}` and `${user.home}` in values find it.
    pub fn set_property(&mut self, name: &str, value: impl Into<String>) {
        self.properties.insert(name.to_string(), value.into());
    }

    /// What the files did that their writer will not have meant; to be logged once.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether a file or an override sets the key (or an old name of it).
    pub fn is_set(&self, key: &str) -> bool {
        self.entries.contains_key(keys::current_name(key))
    }

    /// The expanded, untrimmed value of any key, of the table or not; `None` where it is neither set nor has a default.
    ///
    /// # Errors
    /// Variables that never end.
    pub fn text(&self, key: &str) -> Result<Option<String>, ConfError> {
        let name = keys::current_name(key);
        self.raw(name).map(|raw| self.expand(name, &raw)).transpose()
    }

    /// The value of a key.
    ///
    /// # Errors
    /// A value that the key does not allow; the error names key, place, value and what is allowed.
    pub fn get<T: Value>(&self, key: Key<T>) -> Result<T::Output, ConfError> {
        self.parse::<T>(key.row(), key.name())
    }

    /// The value of a key with suffixes before the plain key: `("ns1", "nn1")` asks for `KEY.ns1.nn1`, `KEY.ns1`, `KEY`.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_for<T: Value>(&self, key: Key<T>, nameservice: &str, namenode: &str) -> Result<T::Output, ConfError> {
        let name = key.name();
        let candidates = [format!("{name}.{nameservice}.{namenode}"), format!("{name}.{nameservice}")];
        let found = candidates.iter().find(|candidate| self.entries.contains_key(*candidate));
        self.parse::<T>(key.row(), found.map_or(name, |c| c.as_str()))
    }

    /// `KEY.SUFFIX` where it is set, else the plain key.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_with_suffix<T: Value>(&self, key: Key<T>, suffix: &str) -> Result<T::Output, ConfError> {
        let long = format!("{}.{suffix}", key.name());
        let found = if self.entries.contains_key(&long) { long.as_str() } else { key.name() };
        self.parse::<T>(key.row(), found)
    }

    /// Where a key's value came from, as errors name it.
    pub fn source(&self, key: &str) -> &str {
        self.entries.get(keys::current_name(key)).map_or("the defaults", |e| &e.source)
    }

    /// The set keys with their values as written, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let sorted: BTreeMap<&str, &str> = self.entries.iter().map(|(k, e)| (k.as_str(), e.value.as_str())).collect();
        sorted.into_iter()
    }

    /// Checks every set key of the table, so that a daemon says at start what is wrong.
    ///
    /// # Errors
    /// All the values that are not allowed.
    pub fn check(&self) -> Result<(), Vec<ConfError>> {
        let bad = |row: &&KeyRow| self.is_set(row.name).then(|| (row.check)(self)).and_then(Result::err);
        let errors: Vec<ConfError> = keys::ALL.iter().filter_map(bad).collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// The address of the NameNode's RPC door: `dfs.namenode.rpc-address`, else the authority of `fs.defaultFS` with port 8020.
    ///
    /// # Errors
    /// Neither names one.
    pub fn namenode_rpc_address(&self) -> Result<Addr, ConfError> {
        if let Some(address) = self.get(keys::DFS_NAMENODE_RPC_ADDRESS)? {
            return Ok(address);
        }
        let uri = self.get(keys::FS_DEFAULT_FS)?;
        let authority = uri.strip_prefix("hdfs://").unwrap_or("");
        Addr::parse(authority, Some(keys::NAMENODE_RPC_PORT)).ok_or_else(|| ConfError::Value {
            key: keys::FS_DEFAULT_FS.name().to_string(),
            source: self.source(keys::FS_DEFAULT_FS.name()).to_string(),
            value: uri,
            allowed: "hdfs://host:port, unless dfs.namenode.rpc-address is set".to_string(),
        })
    }

    pub(crate) fn parse<T: Value>(&self, row: &KeyRow, name: &str) -> Result<T::Output, ConfError> {
        let raw = self.raw(name).unwrap_or_default();
        let text = self.expand(name, &raw)?;
        let text = text.trim();
        // An empty value of a typed key counts as not set, as in Hadoop's getters.
        let text =
            if text.is_empty() && !row.default.is_empty() { self.expand(name, row.default)? } else { text.to_string() };
        T::parse(row, &text).ok_or_else(|| ConfError::Value {
            key: name.to_string(),
            source: self.source(name).to_string(),
            value: text,
            allowed: T::allowed(row),
        })
    }

    /// The value as written, or the default; `None` where there is neither.
    fn raw(&self, name: &str) -> Option<String> {
        match self.entries.get(name) {
            Some(entry) => Some(entry.value.clone()),
            None => keys::find(name).map(|row| row.default).filter(|d| !d.is_empty()).map(str::to_string),
        }
    }

    fn expand(&self, name: &str, raw: &str) -> Result<String, ConfError> {
        expand::expand(raw, |variable| self.look_up(variable)).map_err(|value| ConfError::Value {
            key: name.to_string(),
            source: self.source(name).to_string(),
            value,
            allowed: "a value whose variables end (Variable substitution depth too large: 20)".to_string(),
        })
    }

    fn look_up(&self, variable: &str) -> Option<String> {
        if variable.starts_with("env.") {
            return expand::environment(variable, |name| std::env::var(name).ok());
        }
        self.properties.get(variable).cloned().or_else(|| self.raw(keys::current_name(variable))).or_else(|| {
            match variable {
                "user.name" => std::env::var("USER").ok().filter(|u| !u.is_empty()),
                "user.home" => std::env::var("HOME").ok(),
                "java.io.tmpdir" => Some("/tmp".to_string()),
                _ => None,
            }
        })
    }
}

//! Query parameters: one table of names and domains, typed values, Hadoop's texts for bad ones.
//! Source: `org.apache.hadoop.hdfs.web.resources` (`*Param.java`), Hadoop 3.5.0.

use crate::request::{CreateFlags, Method, RenameOptions, Side};
use crate::url;
use surus_types::acl::parse_acl_spec;
use surus_types::xattr::parse_xattr_name;
use surus_types::{AclEntry, ExceptionClass, FsAction, FsPermission, HdfsError, XAttr, XAttrCodec};

/// The domain of a parameter.
#[derive(Clone, Copy)]
pub(crate) enum Domain {
    /// At least this.
    Long(i64),
    Int(i32),
    Short(i16),
    /// Octal 0 to 1777.
    Permission,
    Bool,
    AbsolutePath,
    /// Comma list of absolute paths.
    AbsolutePaths,
    FsAction,
    CreateFlags,
    RenameOptions,
    UserName,
    /// `text`, `hex`, `base64`.
    XAttrCodec,
    AclSpec,
    XAttrFlags,
}

use Domain::{AbsolutePath, AbsolutePaths, Bool, Int, Long, Permission, Short, UserName};
use Method::{Delete, Get, Post, Put};

/// Parameters with a domain, and the methods that check them, whatever the operation. In the order in which Hadoop checks.
const PARAMETERS: &[(&str, &[Method], Domain)] = &[
    ("user.name", &[Get, Put, Post, Delete], UserName),
    ("destination", &[Put], AbsolutePath),
    ("permission", &[Put], Permission),
    ("unmaskedpermission", &[Put], Permission),
    ("overwrite", &[Put], Bool),
    ("offset", &[Get], Long(0)),
    ("length", &[Get], Long(0)),
    ("buffersize", &[Get, Put, Post], Int(1)),
    ("replication", &[Put], Short(1)),
    ("blocksize", &[Put], Long(1)),
    ("modificationtime", &[Put], Long(-1)),
    ("accesstime", &[Put], Long(-1)),
    ("renameoptions", &[Put], Domain::RenameOptions),
    ("createparent", &[Put], Bool),
    ("aclspec", &[Put], Domain::AclSpec),
    ("flag", &[Put], Domain::XAttrFlags),
    ("createflag", &[Put], Domain::CreateFlags),
    ("fsaction", &[Get], Domain::FsAction),
    ("noredirect", &[Get, Put, Post], Bool),
    ("onehop", &[Get, Put, Post], Bool),
    ("namespacequota", &[Put], Long(i64::MIN)),
    ("storagespacequota", &[Put], Long(i64::MIN)),
    ("sources", &[Post], AbsolutePaths),
    ("newlength", &[Post], Long(0)),
    ("recursive", &[Delete], Bool),
    ("allusers", &[Get], Bool),
    ("encoding", &[Get], Domain::XAttrCodec),
];

/// The decoded query of one request.
pub(crate) struct Params {
    side: Side,
    pairs: Vec<(String, String)>,
}

impl Params {
    /// Names in any case, as 3.4 takes them; the first of equal names wins.
    pub fn new(side: Side, query: &str) -> Params {
        let pairs = url::pairs(query).map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
        Params { side, pairs }
    }

    pub fn side(&self) -> Side {
        self.side
    }

    /// Checks every parameter that `method` has, also those the operation does not use.
    pub fn check_all(&self, method: Method) -> Result<(), HdfsError> {
        for (name, methods, domain) in PARAMETERS {
            if let Some(value) = self.text(name)
                && methods.contains(&method)
            {
                check(*domain, name, value).map_err(|text| self.invalid(name, &text))?;
            }
        }
        Ok(())
    }

    /// The value as given; `None` where it is absent, empty or the word `null`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.raw(name).filter(|v| !v.is_empty() && *v != "null")
    }

    pub fn raw(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// A value that the operation cannot do without.
    pub fn required(&self, name: &str, operation: &str) -> Result<&str, HdfsError> {
        self.text(name).ok_or_else(|| illegal(format!("Required param {name} for op: {operation} is null or empty")))
    }

    pub fn long(&self, name: &str, min: i64) -> Result<Option<i64>, HdfsError> {
        // HttpFS leaves it to the file system what makes sense.
        let min = if self.side == Side::HttpFs { i64::MIN } else { min };
        self.typed(name, |v| parse_long(name, v, min))
    }

    pub fn length(&self, name: &str) -> Result<Option<u64>, HdfsError> {
        Ok(self.long(name, 0)?.and_then(|v| u64::try_from(v).ok()))
    }

    pub fn buffer_size(&self) -> Result<Option<u32>, HdfsError> {
        Ok(self.typed("buffersize", |v| parse_int("buffersize", v, 1))?.and_then(|v| u32::try_from(v).ok()))
    }

    pub fn replication(&self) -> Result<Option<u16>, HdfsError> {
        let min = if self.side == Side::HttpFs { i16::MIN } else { 1 };
        Ok(self.typed("replication", |v| parse_short("replication", v, min))?.and_then(|v| u16::try_from(v).ok()))
    }

    pub fn permission(&self, name: &str) -> Result<Option<FsPermission>, HdfsError> {
        self.typed(name, |v| parse_permission(name, v))
    }

    pub fn boolean(&self, name: &str, default: bool) -> Result<bool, HdfsError> {
        Ok(self.typed(name, parse_bool)?.unwrap_or(default))
    }

    pub fn action(&self, operation: &str) -> Result<FsAction, HdfsError> {
        self.required("fsaction", operation)?;
        Ok(self.typed("fsaction", parse_action)?.unwrap_or_default())
    }

    pub fn create_flags(&self) -> Result<CreateFlags, HdfsError> {
        Ok(self.typed("createflag", parse_create_flags)?.unwrap_or_default())
    }

    /// `None` where the parameter is absent.
    pub fn rename_options(&self) -> Result<Option<RenameOptions>, HdfsError> {
        self.typed("renameoptions", parse_rename_options)
    }

    pub fn acl_spec(&self, operation: &str, with_permission: bool) -> Result<Vec<AclEntry>, HdfsError> {
        if self.side == Side::HttpFs {
            self.typed("aclspec", |v| check(Domain::AclSpec, "aclspec", v))?;
        }
        parse_acl_spec(self.required("aclspec", operation)?, with_permission)
    }

    pub fn codec(&self, operation: &str) -> Result<XAttrCodec, HdfsError> {
        let given = self.required("encoding", operation)?;
        XAttrCodec::from_name(given).ok_or_else(|| self.invalid("encoding", &no_codec(given)))
    }

    /// Of every `xattr.name` that is given, without values.
    pub fn xattr_names(&self) -> Result<Vec<XAttr>, HdfsError> {
        let given = self.pairs.iter().filter(|(name, value)| name == "xattr.name" && !value.is_empty());
        given.map(|(_, value)| xattr(value, None)).collect()
    }

    pub fn xattr(&self, with_value: bool) -> Result<XAttr, HdfsError> {
        let value = self.text("xattr.value").filter(|_| with_value).map(XAttrCodec::decode).transpose()?;
        xattr(self.text("xattr.name").unwrap_or(""), value)
    }

    pub fn xattr_flags(&self) -> Result<u32, HdfsError> {
        Ok(self.typed("flag", parse_xattr_flags)?.unwrap_or_default())
    }

    pub fn list(&self, name: &str) -> Vec<String> {
        self.text(name).unwrap_or("").split(',').filter(|s| !s.is_empty()).map(str::to_string).collect()
    }

    pub fn user(&self) -> Result<Option<String>, HdfsError> {
        let user = self.typed("user.name", |v| check(UserName, "user.name", v).map(|()| v.to_string()))?;
        let legacy =
            || self.text("ugi").and_then(|v| v.split(',').next()).filter(|v| !v.is_empty()).map(str::to_string);
        Ok(user.or_else(legacy))
    }

    fn typed<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, HdfsError> {
        self.text(name).map(parse).transpose().map_err(|text| self.invalid(name, &text))
    }

    /// The text around a bad value; the DataNode's has no frame, HttpFS tells the domain.
    pub fn invalid(&self, name: &str, text: &str) -> HdfsError {
        match self.side {
            Side::NameNode => illegal(format!(
                "Invalid value for webhdfs parameter \"{name}\": java.lang.IllegalArgumentException: {text}"
            )),
            Side::DataNode => illegal(text),
            Side::HttpFs => {
                let (value, domain) = (self.raw(name).unwrap_or(""), httpfs_domain(name));
                illegal(format!(
                    "java.lang.IllegalArgumentException: Parameter [{name}], invalid value [{value}], value must be [{domain}]"
                ))
            }
        }
    }
}

pub(crate) fn illegal(message: impl Into<String>) -> HdfsError {
    HdfsError::new(ExceptionClass::IllegalArgument, message)
}

/// What HttpFS says that a value must be. Source: `org.apache.hadoop.lib.wsrs`, Hadoop 3.4.2.
fn httpfs_domain(name: &str) -> String {
    let domain = PARAMETERS.iter().find(|(known, ..)| *known == name).map(|(.., domain)| *domain);
    match domain {
        Some(Long(_)) => "a long".to_string(),
        Some(Int(_)) => "an integer".to_string(),
        Some(Short(_) | Permission) => "a short".to_string(),
        Some(Bool) => "a boolean".to_string(),
        Some(Domain::XAttrCodec) => "TEXT,HEX,BASE64".to_string(),
        Some(Domain::XAttrFlags) => "[CREATE, REPLACE]".to_string(),
        Some(Domain::AclSpec) => format!("^{ACL_ENTRY_PATTERN}(,{ACL_ENTRY_PATTERN})*$"),
        None if name == "data" => "a boolean".to_string(),
        _ => "a string".to_string(),
    }
}

fn check(domain: Domain, name: &str, value: &str) -> Result<(), String> {
    match domain {
        Long(min) => parse_long(name, value, min).map(|_| ()),
        Int(min) => parse_int(name, value, min).map(|_| ()),
        Short(min) => parse_short(name, value, min).map(|_| ()),
        Permission => parse_permission(name, value).map(|_| ()),
        Bool => parse_bool(value).map(|_| ()),
        AbsolutePath => absolute(name, value),
        AbsolutePaths => value.split(',').try_for_each(|path| absolute(name, path)),
        Domain::FsAction => parse_action(value).map(|_| ()),
        Domain::CreateFlags => parse_create_flags(value).map(|_| ()),
        Domain::RenameOptions => parse_rename_options(value).map(|_| ()),
        Domain::XAttrCodec if XAttrCodec::from_name(value).is_some() => Ok(()),
        Domain::XAttrCodec => Err(no_codec(value)),
        Domain::XAttrFlags => parse_xattr_flags(value).map(|_| ()),
        Domain::AclSpec if value.split(',').all(is_acl_entry) => Ok(()),
        Domain::AclSpec => Err(format!(
            "Invalid value: \"{value}\" does not belong to the domain ^{ACL_ENTRY_PATTERN}(,{ACL_ENTRY_PATTERN})*$"
        )),
        UserName if is_user_name(value) => Ok(()),
        UserName => {
            Err(format!("Invalid value: \"{value}\" does not belong to the domain ^[A-Za-z_][A-Za-z0-9._-]*[$]?$"))
        }
    }
}

fn no_codec(value: &str) -> String {
    format!("No enum constant org.apache.hadoop.fs.XAttrCodec.{}", value.to_ascii_uppercase())
}

/// One entry of the default of `dfs.webhdfs.acl.provider.permission.pattern`.
const ACL_ENTRY_PATTERN: &str = "(default:)?(user|group|mask|other):[[A-Za-z_][A-Za-z0-9._-]]*:([rwx-]{3})?";

fn is_acl_entry(entry: &str) -> bool {
    let rest = entry.strip_prefix("default:").unwrap_or(entry);
    let parts: Vec<&str> = rest.split(':').collect();
    let &[kind, name, permission] = &parts[..] else { return false };
    ["user", "group", "mask", "other"].contains(&kind)
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        && (permission.is_empty() || permission.len() == 3 && permission.bytes().all(|b| b"rwx-".contains(&b)))
}

fn xattr(name: &str, value: Option<Vec<u8>>) -> Result<XAttr, HdfsError> {
    let (namespace, name) = parse_xattr_name(name)?;
    Ok(XAttr { namespace, name: name.into(), value })
}

/// `^[A-Za-z_][A-Za-z0-9._-]*[$]?$`, the default of `dfs.webhdfs.user.provider.user.pattern`.
fn is_user_name(value: &str) -> bool {
    let name = value.strip_suffix('$').unwrap_or(value);
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_') && name.bytes().all(inner)
}

fn absolute(name: &str, value: &str) -> Result<(), String> {
    if value.starts_with('/') {
        return Ok(());
    }
    Err(format!("Invalid parameter value: {name} = \"{value}\" is not an absolute path."))
}

fn parse_long(name: &str, value: &str, min: i64) -> Result<i64, String> {
    let number: i64 = value.parse().map_err(|_| format!("Failed to parse \"{value}\" as a radix-10 long integer."))?;
    at_least(name, number, min)
}

fn parse_int(name: &str, value: &str, min: i32) -> Result<i32, String> {
    let number: i32 = value.parse().map_err(|_| format!("Failed to parse \"{value}\" as a radix-10 integer."))?;
    at_least(name, number, min)
}

fn parse_short(name: &str, value: &str, min: i16) -> Result<i16, String> {
    let number: i16 = value.parse().map_err(|_| format!("Failed to parse \"{value}\" as a radix-10 short integer."))?;
    at_least(name, number, min)
}

fn at_least<N: PartialOrd + std::fmt::Display>(name: &str, number: N, min: N) -> Result<N, String> {
    if number < min {
        return Err(format!("Invalid parameter range: {name} = {number} < {min}"));
    }
    Ok(number)
}

fn parse_permission(name: &str, value: &str) -> Result<FsPermission, String> {
    let bits = i16::from_str_radix(value, 8)
        .map_err(|_| format!("Failed to parse \"{value}\" as a radix-8 short integer."))?;
    match u16::try_from(bits) {
        Err(_) => Err(format!("Invalid parameter range: {name} = -{:o} < 0", bits.unsigned_abs())),
        Ok(bits) if bits > 0o1777 => Err(format!("Invalid parameter range: {name} = {bits:o} > 1777")),
        Ok(bits) => Ok(FsPermission(bits)),
    }
}

fn parse_bool(value: &str) -> Result<bool, String> {
    match value {
        v if v.eq_ignore_ascii_case("true") => Ok(true),
        v if v.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(format!("Failed to parse \"{value}\" to Boolean.")),
    }
}

fn parse_action(value: &str) -> Result<FsAction, String> {
    let bad = || format!("Invalid value: \"{value}\" does not belong to the domain [r-][w-][x-]");
    let &[r, w, x] = value.as_bytes() else { return Err(bad()) };
    let mut bits = 0;
    for (have, letter, bit) in [(r, b'r', 4), (w, b'w', 2), (x, b'x', 1)] {
        match have {
            h if h == letter => bits |= bit,
            b'-' => {}
            _ => return Err(bad()),
        }
    }
    Ok(FsAction(bits))
}

fn words(value: &str) -> impl Iterator<Item = String> {
    value.split(',').map(|w| w.trim().to_ascii_uppercase()).filter(|w| !w.is_empty())
}

fn parse_create_flags(value: &str) -> Result<CreateFlags, String> {
    let mut bits = 0;
    for word in words(value) {
        match CreateFlags::NAMES.iter().find(|(name, _)| *name == word) {
            Some((_, bit)) => bits |= bit,
            None => return Err(format!("No enum constant org.apache.hadoop.fs.CreateFlag.{word}")),
        }
    }
    Ok(CreateFlags(bits))
}

fn parse_xattr_flags(value: &str) -> Result<u32, String> {
    let mut bits = 0;
    for word in words(value) {
        match word.as_str() {
            "CREATE" => bits |= 1,
            "REPLACE" => bits |= 2,
            _ => return Err(format!("No enum constant org.apache.hadoop.fs.XAttrSetFlag.{word}")),
        }
    }
    Ok(bits)
}

fn parse_rename_options(value: &str) -> Result<RenameOptions, String> {
    let mut options = RenameOptions::default();
    for word in words(value) {
        match word.as_str() {
            "NONE" => {}
            "OVERWRITE" => options.overwrite = true,
            "TO_TRASH" => options.to_trash = true,
            _ => return Err(format!("No enum constant org.apache.hadoop.fs.Options.Rename.{word}")),
        }
    }
    Ok(options)
}

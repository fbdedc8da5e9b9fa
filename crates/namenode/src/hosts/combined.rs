//! The JSON file of CombinedHostFileManager: an array of DataNodes, or, as files of Hadoop 2 have it, one object after another.
//! Source: `CombinedHostsFileReader.java`, `DatanodeAdminProperties.java`, Hadoop 3.5.0.

use serde_json::{Map, Value};

/// What a DataNode is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AdminState {
    Normal,
    Decommissioned,
    Maintenance,
}

/// One DataNode of the file. Its upgrade domain and the end of its maintenance are checked and not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DatanodeEntry {
    pub host_name: String,
    /// 0: every DataNode of the host.
    pub port: u16,
    pub admin_state: AdminState,
}

/// # Errors
/// What is wrong with the text.
pub(super) fn parse(text: &str) -> Result<Vec<DatanodeEntry>, String> {
    let mut nodes = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match value.map_err(|error| format!("not JSON: {error}"))? {
            Value::Array(values) => {
                for value in values {
                    nodes.push(entry(&value)?);
                }
            }
            value => nodes.push(entry(&value)?),
        }
    }
    Ok(nodes)
}

fn entry(value: &Value) -> Result<DatanodeEntry, String> {
    let object = value.as_object().ok_or_else(|| format!("a DataNode must be an object, which {value} is not"))?;
    const FIELDS: [&str; 5] = ["hostName", "port", "upgradeDomain", "adminState", "maintenanceExpireTimeInMS"];
    if let Some(field) = object.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(format!("unknown field \"{field}\"; there are {}", FIELDS.join(", ")));
    }
    let text = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(format!("{name} must be a text, which {other} is not")),
    };
    let host_name = text("hostName")?.filter(|name| !name.is_empty()).ok_or("a DataNode without hostName")?.to_owned();
    text("upgradeDomain")?;
    number(object, "maintenanceExpireTimeInMS", i64::MAX)?;
    let admin_state = match text("adminState")? {
        None | Some("NORMAL" | "In Service") => AdminState::Normal,
        Some("DECOMMISSIONED" | "DECOMMISSION_INPROGRESS") => AdminState::Decommissioned,
        Some("IN_MAINTENANCE" | "ENTERING_MAINTENANCE") => AdminState::Maintenance,
        Some(other) => return Err(format!("adminState {other}: it must be NORMAL, DECOMMISSIONED or IN_MAINTENANCE")),
    };
    let port = number(object, "port", u16::MAX.into())?;
    Ok(DatanodeEntry { host_name, port: u16::try_from(port).unwrap_or(0), admin_state })
}

/// A whole number from 0 to `max`; 0 where it is not there.
fn number(object: &Map<String, Value>, name: &str, max: i64) -> Result<i64, String> {
    match object.get(name) {
        None => Ok(0),
        Some(value) => value
            .as_i64()
            .filter(|number| (0..=max).contains(number))
            .ok_or_else(|| format!("{name} must be a whole number from 0 to {max}, which {value} is not")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        match parse(text) {
            Ok(nodes) => {
                let line = |n: &DatanodeEntry| format!("{}:{} {:?}", n.host_name, n.port, n.admin_state);
                nodes.iter().map(line).collect::<Vec<_>>().join(", ")
            }
            Err(problem) => problem,
        }
    }

    #[test]
    fn both_forms_of_the_file() {
        let nodes = r#"{"hostName": "a"} , {"hostName": "b", "port": 50, "upgradeDomain": "ud0"},
            {"hostName": "c", "port": 0, "adminState": "DECOMMISSIONED"},
            {"hostName": "d", "adminState": "IN_MAINTENANCE", "maintenanceExpireTimeInMS": 99999999999999}"#;
        let want = "a:0 Normal, b:50 Normal, c:0 Decommissioned, d:0 Maintenance";
        assert_eq!(show(&format!("[{nodes}]")), want);
        assert_eq!(show(&nodes.replace(" ,", "\n").replace("},", "}\n")), want);
        assert_eq!(show(""), "");
    }

    #[test]
    fn what_is_refused() {
        let cases = [
            ("[1]", "a DataNode must be an object, which 1 is not"),
            ("{}", "a DataNode without hostName"),
            (
                r#"{"hostName": "a", "prot": 1}"#,
                "unknown field \"prot\"; there are hostName, port, upgradeDomain, adminState, maintenanceExpireTimeInMS",
            ),
            (r#"{"hostName": "a", "port": 70000}"#, "port must be a whole number from 0 to 65535, which 70000 is not"),
            (
                r#"{"hostName": "a", "adminState": "GONE"}"#,
                "adminState GONE: it must be NORMAL, DECOMMISSIONED or IN_MAINTENANCE",
            ),
        ];
        for (text, want) in cases {
            assert_eq!(show(text), want, "{text}");
        }
        assert!(show("[{").starts_with("not JSON: "));
    }
}

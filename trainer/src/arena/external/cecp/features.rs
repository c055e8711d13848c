//! What an engine says that it can do, in answer to `protover 2`.

/// What an engine says that it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Features {
    pub name: Option<String>,
    pub variants: Vec<String>,
    pub options: Vec<String>,
    pub usermove: bool,
    pub ping: bool,
    pub time: bool,
    pub smp: bool,
    pub memory: bool,
    /// `Some(false)`: it is still starting.
    pub done: Option<bool>,
}

impl Default for Features {
    /// What the protocol assumes of an engine that says nothing.
    fn default() -> Features {
        Features {
            name: None,
            variants: vec!["normal".to_owned()],
            options: Vec::new(),
            usermove: false,
            ping: false,
            time: true,
            smp: false,
            memory: false,
            done: None,
        }
    }
}

impl Features {
    /// Takes in `name=value name="value" …`.
    pub fn hear(&mut self, list: &str) {
        let mut rest = list.trim_start();
        while let Some((name, after)) = rest.split_once('=') {
            let (value, after) = match after.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => after.split_once(' ').unwrap_or((after, "")),
            };
            self.set(name.trim(), value);
            rest = after.trim_start();
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        let flag = value == "1";
        match name {
            "myname" => self.name = Some(value.to_owned()),
            "variants" => self.variants = value.split(',').map(|v| v.trim().to_owned()).collect(),
            "option" => {
                let name = value.split(" -").next().unwrap_or(value);
                self.options.push(name.to_owned());
            }
            "usermove" => self.usermove = flag,
            "ping" => self.ping = flag,
            "time" => self.time = flag,
            "smp" => self.smp = flag,
            "memory" => self.memory = flag,
            "done" => self.done = Some(flag),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read() {
        let mut features = Features::default();
        features.hear("myname=\"Fairy-Max 5.0b\" ping=1 usermove=0 done=0");
        features.hear("variants=\"normal, falcon,fairy\" option=\"Resign Threshold -spin 800 200 1200\" done=1");
        assert_eq!(features.name.as_deref(), Some("Fairy-Max 5.0b"));
        assert_eq!(features.variants, ["normal", "falcon", "fairy"]);
        assert_eq!(features.options, ["Resign Threshold"]);
        assert!(features.ping && !features.usermove && features.done == Some(true));
        features.hear("half=\"open");
        features.hear("=");
        features.hear("nothing");
    }
}

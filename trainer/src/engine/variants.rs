//! The variants that the engine can play: the built-in ones and those of the user's files.

use crate::variant::{check_name, read_file};
use rules::Variant;
use std::sync::Arc;

/// Variants by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Variants {
    /// From files, under names of their own.
    own: Vec<Arc<Variant>>,
}

impl Variants {
    /// All names, the built-in ones first.
    pub fn names(&self) -> Vec<&str> {
        let own = self.own.iter().map(|variant| variant.name());
        let mut names: Vec<&str> = Variant::builtin_names().to_vec();
        names.extend(own);
        names
    }

    /// The variant of a name.
    ///
    /// # Errors
    /// The names that there are.
    pub fn find(&self, name: &str) -> Result<Arc<Variant>, String> {
        if let Some(own) = self.own.iter().find(|variant| variant.name() == name) {
            return Ok(Arc::clone(own));
        }
        Variant::by_name(name).map_err(|_| {
            format!(
                "there is no variant `{}`; there are {}, and VariantPath adds others from TOML files",
                super::event::excerpt(name),
                self.names().join(", ")
            )
        })
    }

    /// Adds a variant that has been loaded, in place of an earlier one of its name.
    pub fn add(&mut self, variant: Arc<Variant>) {
        let is_builtin =
            Variant::by_name(variant.name()).is_ok_and(|builtin| builtin.toml() == variant.toml());
        if !is_builtin {
            self.own.retain(|other| other.name() != variant.name());
            self.own.push(variant);
        }
    }

    /// Adds the variants of one or more TOML files, separated by `;`, and returns their names.
    ///
    /// # Errors
    /// Which file is wrong, and how. Those before it have been added.
    pub fn add_files(&mut self, paths: &str) -> Result<Vec<String>, String> {
        let mut names: Vec<String> = Vec::new();
        for path in paths
            .split(';')
            .map(str::trim)
            .filter(|path| !path.is_empty())
        {
            let text = read_file(path).map_err(|error| format!("{error:#}"))?;
            let variant =
                Variant::from_toml(&text).map_err(|error| format!("'{path}': {error}"))?;
            check_name(&variant).map_err(|error| format!("'{path}': {error}"))?;
            let name = variant.name().to_owned();
            if names.contains(&name) {
                return Err(format!(
                    "'{path}': another file before it is of a variant {name}, too; give one of them another name"
                ));
            }
            names.push(name);
            self.add(variant);
        }
        Ok(names)
    }
}

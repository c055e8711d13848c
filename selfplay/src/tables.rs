//! Folders of endgame tablebases.
//!
//! A folder holds one file a table, named by its material: `KFvK.fzt`. The format is the rules' own
//! ([`rules::tablebase`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rules::Variant;
use rules::tablebase::{MaterialKey, TablebaseError, Tablebases};

/// The ending of a table's file.
const ENDING: &str = "fzt";

/// Why tables could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    /// A file or folder cannot be read or written.
    #[error("cannot use '{path}' for tablebases: {source}", path = path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is no table of the variant.
    #[error("'{path}': {source}", path = path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        source: TablebaseError,
    },
    /// There are no tables in a folder that should have some.
    #[error(
        "there are no tablebases in '{path}'; build some: falconzero tablebase KRvK --variant {variant} --dir {path}",
        path = path.display()
    )]
    Empty {
        /// The folder.
        path: PathBuf,
        /// The variant's name.
        variant: String,
    },
}

/// Reads all tables of a folder.
///
/// # Errors
/// [`TablesError`]: the folder or a file cannot be read, or a file is no table of this variant.
pub fn load(variant: &Arc<Variant>, folder: &Path) -> Result<Tablebases, TablesError> {
    let problem = |path: &Path| {
        let path = path.to_owned();
        move |source| TablesError::File { path, source }
    };
    let mut tables = Tablebases::new(variant);
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(problem(folder))? {
        let path = entry.map_err(problem(folder))?.path();
        if path.extension().is_some_and(|ending| ending == ENDING) {
            paths.push(path);
        }
    }
    paths.sort();
    for path in paths {
        let bytes = std::fs::read(&path).map_err(problem(&path))?;
        let inserted = tables.insert_bytes(&bytes);
        inserted.map_err(|source| TablesError::Table { path, source })?;
    }
    Ok(tables)
}

/// [`load`], for a folder that must hold at least one table.
///
/// # Errors
/// As [`load`], or [`TablesError::Empty`].
pub fn load_some(variant: &Arc<Variant>, folder: &Path) -> Result<Tablebases, TablesError> {
    let tables = load(variant, folder)?;
    match tables.is_empty() {
        true => Err(TablesError::Empty {
            path: folder.to_owned(),
            variant: variant.name().to_owned(),
        }),
        false => Ok(tables),
    }
}

/// Writes one table, under a temporary name first; returns the path and the size in bytes. Creates the folder.
///
/// # Errors
/// [`TablesError::File`].
///
/// # Panics
/// If `tables` lacks the material.
pub fn save(
    tables: &Tablebases,
    key: &MaterialKey,
    folder: &Path,
) -> Result<(PathBuf, u64), TablesError> {
    let name = tables.canonical(key).name(tables.variant());
    let path = folder.join(format!("{name}.{ENDING}"));
    let temporary = folder.join(format!("{name}.{ENDING}.tmp"));
    let bytes = tables
        .to_bytes(key)
        .unwrap_or_else(|| panic!("{name} has been built"));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&temporary, &bytes))
        .and_then(|()| std::fs::rename(&temporary, &path));
    written.map_err(|source| TablesError::File {
        path: path.clone(),
        source,
    })?;
    Ok((path, bytes.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::{Verdict, solve};
    use rand::{RngExt, SeedableRng};
    use rules::tablebase::TableValue;

    #[test]
    fn folders_come_back_and_damage_is_named() {
        let variant = Variant::by_name("chess").expect("built in");
        let folder = tempfile::tempdir().expect("a folder");
        let error = load_some(&variant, folder.path()).expect_err("empty");
        assert!(
            error.to_string().contains("falconzero tablebase"),
            "{error}"
        );
        let mut tables = Tablebases::new(&variant);
        let key = MaterialKey::parse(&variant, "KvK").expect("material");
        tables.build(&key, &mut |_| {}).expect("built");
        let (path, _) = save(&tables, &key, &folder.path().join("new")).expect("saved");
        let read = load_some(&variant, &folder.path().join("new")).expect("read");
        assert_eq!(read.keys().collect::<Vec<_>>(), [&key]);
        std::fs::write(&path, b"FZTABLE1 and no more").expect("written");
        let error = load(&variant, &folder.path().join("new")).expect_err("damaged");
        assert!(error.to_string().contains("KvK.fzt"), "{error}");
    }

    /// The mate solver knows nothing of tables, and agrees with them on mates of up to three moves.
    #[test]
    fn the_mate_solver_agrees() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for (name, material) in [("chess", "KRvK"), ("falcon-8x8", "KFvK")] {
            let variant = Variant::by_name(name).expect("built in");
            let mut tables = Tablebases::new(&variant);
            let key = MaterialKey::parse(&variant, material).expect("material");
            tables.build(&key, &mut |_| {}).expect("built");
            let table = tables.get(&key).expect("built");
            let (mut mates, mut others) = (0, 0);
            while mates < 30 || others < 10 {
                let cell = rng.random_range(0..table.cells());
                let Some((position, value)) = table.entry(&tables, cell) else {
                    continue;
                };
                match value {
                    TableValue::Win(plies) if plies <= 5 && mates < 30 => mates += 1,
                    TableValue::Win(plies) if plies <= 5 => continue,
                    _ if others < 10 => others += 1,
                    _ => continue,
                }
                let found = match solve(&variant, &position, 3, 10_000_000).verdict {
                    Verdict::Mate { moves, .. } => Some(moves),
                    Verdict::NoMate => None,
                    Verdict::Unknown { .. } => panic!("{}", position.fen(&variant)),
                };
                let expected = match value {
                    TableValue::Win(plies) => {
                        Some(u32::from(plies).div_ceil(2)).filter(|&m| m <= 3)
                    }
                    TableValue::Draw | TableValue::Loss(_) => None,
                };
                assert_eq!(found, expected, "{}", position.fen(&variant));
            }
        }
    }
}

//! The only file input and output.
//!
//! Every read has a cap, so that a wrong path (a device, a huge log) ends in a
//! message and not in a full memory.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::import::sysfs::SysTree;

/// Largest text file that is read. The domain file of 1024 CPUs has 3 MB.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a text file. The error is one line: which file, why, how to mend it.
pub fn read_text(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let fail = |error: std::io::Error| {
        format!("{shown}: cannot be read: {error}; check the path and its permissions")
    };
    let file = File::open(path).map_err(fail)?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(fail)?;
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        let limit = MAX_TEXT_BYTES >> 20;
        return Err(format!(
            "{shown}: is larger than {limit} MiB; give a text file"
        ));
    }
    // Some editors begin a text with a byte order mark; it says nothing in UTF-8.
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{shown}: is not text (byte {at} is no UTF-8); give a text file")
    })
}

/// Largest sysfs file that is read: a list of 4096 lone CPUs has 20 kB.
const MAX_SYSFS_BYTES: u64 = 64 << 10;

/// Largest part of `/proc/cpuinfo` that is read: the first CPU tells all.
const MAX_CPUINFO_BYTES: u64 = 16 << 10;

/// Most files of a sysfs tree. A machine of 1024 CPUs needs 40,000.
const MAX_SYSFS_FILES: usize = 200_000;

/// Reads the files of `/sys/devices/system/{cpu,node}` that tell the shape of a
/// machine. `dir` is `/`, a snapshot that holds `sys/devices/system`, some
/// folder on the way down to it, or the folder above the snapshot.
///
/// Links in a snapshot are followed only if they stay inside it.
pub fn read_sysfs(dir: &Path) -> Result<SysTree, String> {
    let shown = dir.display();
    let root = dir
        .canonicalize()
        .map_err(|error| format!("{shown}: cannot be read: {error}; check the path"))?;
    let Some((system, top)) = find_system(&root) else {
        return Err(format!(
            "{shown}: there is no sys/devices/system/cpu in it; give the folder that holds `sys`"
        ));
    };
    let mut reader = SysReader {
        inside: root,
        tree: SysTree::default(),
    };
    let cpu = system.join("cpu");
    for name in ["online", "isolated"] {
        reader.take(&cpu.join(name), format!("cpu/{name}"));
    }
    for (name, folder) in numbered(&cpu, "cpu") {
        reader.take_cpu(&folder, &format!("cpu/{name}"));
    }
    let node = system.join("node");
    for name in ["online", "possible"] {
        reader.take(&node.join(name), format!("node/{name}"));
    }
    for (name, folder) in numbered(&node, "node") {
        for file in ["cpulist", "cpumap", "distance"] {
            reader.take(&folder.join(file), format!("node/{name}/{file}"));
        }
    }
    if let Some(cpuinfo) = top.map(|top| top.join("proc/cpuinfo")) {
        reader.take_up_to(&cpuinfo, "proc/cpuinfo".into(), MAX_CPUINFO_BYTES);
    }
    if reader.tree.0.len() >= MAX_SYSFS_FILES {
        return Err(format!(
            "{shown}: has more than {MAX_SYSFS_FILES} topology files; 1 to 1024 CPUs can be modelled"
        ));
    }
    Ok(reader.tree)
}

/// The folder that holds `cpu`, and the one that holds `sys` and `proc`, if the
/// latter is inside `root`.
fn find_system(root: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    let here = |base: &Path| {
        let whole = base.join("sys/devices/system");
        if whole.join("cpu").is_dir() {
            return Some((whole, Some(base.to_path_buf())));
        }
        let parts = ["devices/system", "system", "."].map(|part| base.join(part));
        let found = parts.into_iter().find(|system| holds_cpus(system));
        found.map(|system| (system, None))
    };
    here(root).or_else(|| {
        let mut below: Vec<PathBuf> = folders(root).map(|(_, path)| path).collect();
        below.sort();
        below.iter().find_map(|folder| here(folder))
    })
}

/// Whether this is `devices/system` and not just any folder with a `cpu` in it.
fn holds_cpus(system: &Path) -> bool {
    let cpu = system.join("cpu");
    cpu.join("online").is_file() || !numbered(&cpu, "cpu").is_empty()
}

/// Folders and links to folders in `folder`.
fn folders(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        entry.path().is_dir().then(|| (name, entry.path()))
    })
}

/// Folders `prefixN` in `folder`, in a fixed order.
fn numbered(folder: &Path, prefix: &str) -> Vec<(String, PathBuf)> {
    let is_number = |name: &str| {
        let digits = name.strip_prefix(prefix).unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut found: Vec<_> = folders(folder)
        .filter(|(name, _)| is_number(name))
        .collect();
    found.sort();
    found
}

struct SysReader {
    /// Nothing outside of this folder is read.
    inside: PathBuf,
    tree: SysTree,
}

impl SysReader {
    fn take_cpu(&mut self, folder: &Path, key: &str) {
        for name in ["online", "cpu_capacity", "cpufreq/cpuinfo_max_freq"] {
            self.take(&folder.join(name), format!("{key}/{name}"));
        }
        let topology = folder.join("topology");
        for name in ["physical_package_id", "die_id"] {
            self.take(&topology.join(name), format!("{key}/topology/{name}"));
        }
        for name in [
            "core_cpus",
            "thread_siblings",
            "package_cpus",
            "core_siblings",
            "die_cpus",
            "cluster_cpus",
        ] {
            for name in [name.to_string(), format!("{name}_list")] {
                self.take(&topology.join(&name), format!("{key}/topology/{name}"));
            }
        }
        for (index, cache) in numbered(&folder.join("cache"), "index") {
            for name in ["level", "type", "shared_cpu_list", "shared_cpu_map"] {
                self.take(&cache.join(name), format!("{key}/cache/{index}/{name}"));
            }
        }
    }

    fn take(&mut self, path: &Path, key: String) {
        self.take_up_to(path, key, MAX_SYSFS_BYTES);
    }

    /// Takes a file in, or leaves it out: what is missing, unreadable or
    /// outside is nothing an import cannot do without.
    fn take_up_to(&mut self, path: &Path, key: String, limit: u64) {
        if self.tree.0.len() >= MAX_SYSFS_FILES {
            return;
        }
        let Ok(real) = path.canonicalize() else {
            return;
        };
        if !real.starts_with(&self.inside) || !real.is_file() {
            return;
        }
        let mut bytes = Vec::new();
        let read = File::open(&real).and_then(|file| file.take(limit).read_to_end(&mut bytes));
        if read.is_ok() {
            self.tree.0.insert(key, bytes);
        }
    }
}

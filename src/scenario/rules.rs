//! Kernels, rules and feature flags by name, as scenarios and arguments ask for
//! them.

use super::problem::suggest;
use crate::session::NamedPolicy;
use crate::sim::gate;
use crate::sim::rules::{self, FEATURES, KERNELS, Kernel, PARTS, Rules};

/// What is wrong with a name, and how to mend it.
pub type Refused = (String, String);

/// Rules asked for by name, on top of others.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// A kernel, whose rules and policy come in place of all others.
    pub kernel: Option<&'static Kernel>,
    /// Rules and which: `("wakeup", "sis-node")`.
    pub parts: Vec<(String, String)>,
    /// Feature flags, `NO_` in front switches off.
    pub features: Vec<String>,
}

/// The kernel of this name.
///
/// # Errors
///
/// That there is none.
pub fn kernel(name: &str) -> Result<&'static Kernel, Refused> {
    rules::kernel(name).ok_or_else(|| {
        let names = KERNELS.iter().map(|kernel| kernel.name);
        (
            format!("there is no kernel called `{name}`"),
            suggest(name, names),
        )
    })
}

/// The newidle policy of a kernel.
pub fn policy_of(kernel: &Kernel) -> NamedPolicy {
    NamedPolicy {
        name: kernel.policy.into(),
        rules: gate::preset(kernel.policy).expect("every kernel names a preset"),
    }
}

/// Takes the choice `name` of the rule `part`, such as `sis-node` of `wakeup`.
///
/// # Errors
///
/// That there is no such rule or choice.
pub fn set_part(rules: &mut Rules, part: &str, name: &str) -> Result<(), Refused> {
    let Some(known) = PARTS.iter().find(|known| known.name == part) else {
        let names = PARTS.iter().map(|part| part.name);
        return Err((
            format!("there is no rule called `{part}`"),
            suggest(part, names),
        ));
    };
    let index = known.find(name).ok_or_else(|| {
        (
            format!("there is no {part} rule called `{name}`"),
            suggest(name, known.names.iter().copied()),
        )
    })?;
    (known.set)(rules, index);
    Ok(())
}

/// Switches a feature flag: `SIS_UTIL` on, `NO_SIS_UTIL` off.
///
/// # Errors
///
/// That there is no such flag, or that these rules lack it: a switch without
/// effect would make two equal runs look like a comparison.
pub fn set_feature(rules: &mut Rules, name: &str) -> Result<(), Refused> {
    let bare = name.strip_prefix("NO_").unwrap_or(name);
    if !FEATURES.iter().any(|feature| feature.name == bare) {
        let names = FEATURES.iter().map(|feature| feature.name);
        return Err((
            format!("there is no feature flag called `{bare}`"),
            suggest(bare, names),
        ));
    }
    if !rules.has(bare) {
        let flags = FEATURES.iter().map(|feature| feature.name);
        let has: Vec<&str> = flags.filter(|flag| rules.has(flag)).collect();
        return Err((
            format!("`{name}`: {} has no {bare}", PARTS[0].now(rules)),
            format!(
                "leave it out or choose another kernel or pick; it has {}",
                has.join(", ")
            ),
        ));
    }
    rules.features.set(name);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_and_wrong_ones_say_what_is_near() {
        let mut rules = Rules::default();
        set_part(&mut rules, "fork", "slowpath-random").unwrap();
        assert_eq!(PARTS[2].now(&rules), "random");
        let (what, remedy) = set_part(&mut rules, "fork", "randon").unwrap_err();
        assert_eq!(what, "there is no fork rule called `randon`");
        assert!(remedy.starts_with("did you mean `random`?"), "{remedy}");
        let (_, remedy) = set_part(&mut rules, "wakup", "x").unwrap_err();
        assert!(remedy.starts_with("did you mean `wakeup`?"), "{remedy}");
        let (_, remedy) = kernel("6.13").unwrap_err();
        assert!(remedy.starts_with("did you mean `6.12`?"), "{remedy}");
        let (_, remedy) = set_feature(&mut rules, "NO_SIS_UTLI").unwrap_err();
        assert!(remedy.starts_with("did you mean `SIS_UTIL`?"), "{remedy}");
    }

    #[test]
    fn a_flag_that_the_kernel_lacks_is_refused() {
        let mut rules = kernel("6.1-cfs").unwrap().rules();
        let before = rules;
        let (what, remedy) = set_feature(&mut rules, "NO_RUN_TO_PARITY").unwrap_err();
        assert_eq!(what, "`NO_RUN_TO_PARITY`: cfs-6.1 has no RUN_TO_PARITY");
        assert!(remedy.contains("START_DEBIT"), "{remedy}");
        assert_eq!(rules, before);
    }
}

//! Which networks of springs and dampers make which kind of object (K03 section 3.1).
//!
//! A network is a spring, a damper, or networks in series or in parallel. Order and brackets among equals do not
//! matter: [`Network::then`] and [`Network::beside`] keep the parts of a group flat and sorted, so that equal networks
//! are equal values. Two springs side by side are another network than one spring, which answers alike:
//! [`Network::reduced`] has one for both, and [`Network::chain`] one for all that answer alike.
//!
//! How a network answers is a quotient of polynomials in the rate operator s = d/dt ([`Operator`]); compliances add in
//! series, stiffnesses in parallel. Press it with a force F for a time T, long against all its own, and let go. By the
//! theorem of final values it returns by F times the constant term of the compliance at s = 0, and F T times the residue
//! there stays: the class follows from degrees and the root at zero, without a run.
//!
//! ```
//! use nendo_model::force::law::network::{Class, Network};
//! let three = Network::Spring.beside(Network::Damper).then(Network::Damper);
//! assert_eq!((three.to_string().as_str(), three.class()), ("(k|c)-c", Class::Rheological));
//! // The spring's extension returns, that of the damper in series stays.
//! let answer = three.operator(&mut |part| if *part == Network::Spring { 50.0 } else { 20.0 });
//! assert_eq!((answer.returns(), answer.stays()), (1.0 / 50.0, 1.0 / 20.0));
//! ```

use super::{Law, generalized_maxwell::GeneralizedMaxwell, generalized_voigt::GeneralizedVoigt};
use std::{collections::BTreeSet, fmt, ops::Deref};

/// A network of springs and dampers between two ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// Two or more side by side: they share the extension.
    Parallel(Group),
    /// Two or more one after the other: they share the force.
    Series(Group),
    /// An elastic part.
    Spring,
    /// A viscous part.
    Damper,
}

/// The parts of a network in series or in parallel: flat, sorted, at least two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group(Vec<Network>);

impl Deref for Group {
    type Target = [Network];

    fn deref(&self) -> &[Network] {
        &self.0
    }
}

/// What an object does when it is let go (H05 Fig. 1.1, K03 Fig. 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It returns, and nothing stays; viscoelastic in K03.
    Elastic,
    /// All stays; plastic in K03.
    Viscoplastic,
    /// It returns in part.
    Rheological,
}

impl Class {
    /// All there are: what neither returned nor stayed would not have moved.
    pub const ALL: [Self; 3] = [Self::Elastic, Self::Viscoplastic, Self::Rheological];

    /// Its name, as in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Elastic => "elastic",
            Self::Viscoplastic => "viscoplastic",
            Self::Rheological => "rheological",
        }
    }
}

impl Network {
    /// Every network with this many parts, each once. There are about five times as many for each part more.
    pub fn all(parts: usize) -> BTreeSet<Self> {
        let mut sizes = vec![BTreeSet::new(), BTreeSet::from([Self::Spring, Self::Damper])];
        for n in 2..=parts {
            let mut found = BTreeSet::new();
            for k in 1..=n / 2 {
                for (a, b) in sizes[k].iter().flat_map(|a| sizes[n - k].iter().map(move |b| (a, b))) {
                    found.insert(a.clone().then(b.clone()));
                    found.insert(a.clone().beside(b.clone()));
                }
            }
            sizes.push(found);
        }
        sizes.swap_remove(parts)
    }

    /// This one and another in series.
    pub fn then(self, next: Self) -> Self {
        let members = |network| match network {
            Self::Series(group) => group.0,
            other => vec![other],
        };
        Self::Series(Group::of(members(self), members(next)))
    }

    /// This one and another in parallel.
    pub fn beside(self, other: Self) -> Self {
        let members = |network| match network {
            Self::Parallel(group) => group.0,
            other => vec![other],
        };
        Self::Parallel(Group::of(members(self), members(other)))
    }

    /// What stands in series: its parts in the sense of K03.
    pub fn in_series(&self) -> &[Self] {
        match self {
            Self::Series(group) => group,
            other => std::slice::from_ref(other),
        }
    }

    fn members(&self) -> &[Self] {
        match self {
            Self::Series(group) | Self::Parallel(group) => group,
            Self::Spring | Self::Damper => &[],
        }
    }

    /// Its springs and dampers.
    pub fn parts(&self) -> usize {
        self.members().iter().map(Self::parts).sum::<usize>().max(1)
    }

    /// Whether there is a damper in it.
    pub fn has_damper(&self) -> bool {
        *self == Self::Damper || self.members().iter().any(Self::has_damper)
    }

    /// One spring for springs that stand together, in series or side by side, and one damper for dampers.
    pub fn reduced(&self) -> Self {
        let join = match self {
            Self::Series(_) => Self::then,
            Self::Parallel(_) => Self::beside,
            Self::Spring | Self::Damper => return self.clone(),
        };
        let reduced = self.members().iter().map(Self::reduced);
        let Some(mut joined) = reduced.reduce(join) else { return self.clone() };
        if let Self::Series(group) | Self::Parallel(group) = &mut joined {
            group.0.dedup_by(|a, b| a == b && a.members().is_empty());
            if group.len() == 1 {
                return group.0.remove(0);
            }
        }
        joined
    }

    /// Its answer, with a positive coefficient for every spring (N/m) and damper (N s/m), asked for from left to right as
    /// the network is printed.
    ///
    /// # Panics
    /// If a coefficient is not positive and finite: part of the network would be missing or rigid.
    pub fn operator(&self, coefficient: &mut dyn FnMut(&Self) -> f64) -> Operator {
        let in_series = matches!(self, Self::Series(_));
        let swapped = |o: Operator| if in_series { Operator { force: o.length, length: o.force } } else { o };
        let terms = self.members().iter().map(|member| swapped(member.operator(coefficient)));
        match terms.reduce(|sum, term| sum.plus(&term)) {
            Some(sum) => swapped(sum),
            None => Operator::of(self, coefficient(self)),
        }
    }

    /// The chain that answers as it does, unless its coefficients agree by chance and take fewer Voigt parts: two with the
    /// same c/k in series are one.
    pub fn chain(&self) -> Chain {
        self.operator(&mut |_| 1.0).chain()
    }

    /// What it does when it is let go.
    pub fn class(&self) -> Class {
        self.chain().class()
    }

    /// The third condition of K03: each of its parts in series has a damper, so that no part swings for ever, not even
    /// alone.
    pub fn settles(&self) -> bool {
        self.in_series().iter().all(Self::has_damper)
    }
}

impl Group {
    fn of(mut some: Vec<Network>, more: Vec<Network>) -> Self {
        some.extend(more);
        some.sort();
        Self(some)
    }
}

/// Series with `-`, parallel with `|`, a spring is k and a damper c.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self {
            Self::Spring => return f.write_str("k"),
            Self::Damper => return f.write_str("c"),
            Self::Series(_) => "-",
            Self::Parallel(_) => "|",
        };
        for (i, member) in self.members().iter().enumerate() {
            let before = if i == 0 { "" } else { sign };
            if member.members().is_empty() {
                write!(f, "{before}{member}")?
            } else {
                write!(f, "{before}({member})")?
            }
        }
        Ok(())
    }
}

/// How a network answers: force(s) f = length(s) x, without a common factor s.
///
/// All coefficients are sums of products of positive numbers, so none vanishes by rounding, and which do is a matter of
/// the network alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    force: Vec<f64>,
    length: Vec<f64>,
}

impl Operator {
    fn of(network: &Network, coefficient: f64) -> Self {
        assert!(
            coefficient > 0.0 && coefficient.is_finite(),
            "{coefficient} is no coefficient of a spring or damper"
        );
        let length = if *network == Network::Spring { vec![coefficient] } else { vec![0.0, coefficient] };
        Self { force: vec![1.0], length }
    }

    /// What the force is multiplied by, lowest power of s first.
    pub fn force(&self) -> &[f64] {
        &self.force
    }

    /// What the extension is multiplied by, lowest power of s first.
    pub fn length(&self) -> &[f64] {
        &self.length
    }

    /// The sum of both as stiffnesses, length(s) / force(s).
    fn plus(&self, other: &Self) -> Self {
        let (mut length, more) = (product(&self.length, &other.force), product(&other.length, &self.force));
        length.resize(length.len().max(more.len()), 0.0);
        length.iter_mut().zip(more).for_each(|(sum, term)| *sum += term);
        let mut force = product(&self.force, &other.force);
        let low = |p: &[f64]| p.iter().take_while(|&&c| c == 0.0).count();
        let common = low(&force).min(low(&length));
        force.drain(..common);
        length.drain(..common);
        Self { force, length }
    }

    /// What stays, in metres for each newton second; zero if nothing does.
    pub fn stays(&self) -> f64 {
        if self.length[0] == 0.0 { self.force[0] / self.length[1] } else { 0.0 }
    }

    /// What returns when a force that was held for long is taken away, in metres for each newton.
    pub fn returns(&self) -> f64 {
        let at = |p: &[f64], k: usize| p.get(k).copied().unwrap_or(0.0);
        let (q, p) = (&self.force, &self.length);
        if p[0] == 0.0 { (at(q, 1) - self.stays() * at(p, 2)) / p[1] } else { q[0] / p[0] }
    }

    /// The chain with this answer, from the partial fractions of the compliance: its pole at zero is the damper, its
    /// value at infinity the spring, every other pole a Voigt part.
    pub fn chain(&self) -> Chain {
        let damper = self.length[0] == 0.0;
        Chain {
            spring: self.force.len() == self.length.len(),
            damper,
            voigts: self.length.len() - 1 - usize::from(damper),
        }
    }
}

fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; a.len() + b.len() - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    product
}

/// A spring, a damper and Voigt parts in series, of each as many as it takes: every network answers as such a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chain {
    /// A spring: it gives way at once.
    pub spring: bool,
    /// A damper: something stays.
    pub damper: bool,
    /// Voigt parts, each with a time of its own.
    pub voigts: usize,
}

impl Chain {
    /// What it does when it is let go: a damper stays, all else returns.
    pub fn class(self) -> Class {
        match (self.damper, self.spring || self.voigts > 0) {
            (false, _) => Class::Elastic,
            (true, false) => Class::Viscoplastic,
            (true, true) => Class::Rheological,
        }
    }

    /// Its springs and dampers, which is the number of its independent coefficients.
    pub fn parts(self) -> usize {
        usize::from(self.spring) + usize::from(self.damper) + 2 * self.voigts
    }

    /// The law of scene files that answers as it does, if there is one.
    pub fn law(self) -> Option<&'static str> {
        Some(match (self.spring, self.damper, self.voigts) {
            (true, false, 0) => "spring",
            (false, true, 0) => "damper",
            (false, false, 1) => "voigt",
            (true, true, 0) => "maxwell",
            (false, true, 1) => "three-element",
            (false, false, 2..) => GeneralizedVoigt::NAME,
            (true, true, 1..) => GeneralizedMaxwell::NAME,
            _ => return None,
        })
    }
}

/// As networks are printed, the Voigt parts first.
impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = self.parts() == 2 && self.voigts == 1;
        let mut links = vec![if alone { "k|c" } else { "(k|c)" }; self.voigts];
        links.extend(self.spring.then_some("k"));
        links.extend(self.damper.then_some("c"));
        f.write_str(&links.join("-"))
    }
}

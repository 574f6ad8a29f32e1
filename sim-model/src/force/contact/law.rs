//! The force of a contact.
//!
//! L is the distance, negative inside, V its rate, eps the width of a region outside the surface:
//!
//! ```text
//!   F = -K (L - eps) - C V - I s      s = integral of L dt, at most 0, while L < eps; 0 outside
//! ```
//! With eps = 0 and I = 0 this is the plain penalty: something of weight W rests at L = -W/K. The integral brings it
//! to L = 0 (if W >= K eps, else it rests within the region). The region keeps the integral from being lost when
//! the force overshoots; the -eps makes shallow contacts stiffer, so that a corner leaves by the nearer side.

use crate::force::real::{Real, Vector};

/// Coefficients of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<T> {
    /// K, N/m.
    pub stiffness: T,
    /// C, N s/m.
    pub damping: T,
    /// I, N/(m s); 0 for the plain penalty.
    pub integral: T,
    /// eps in metres.
    pub region: T,
    /// mu: friction over normal force.
    pub friction: T,
    /// Below this speed in m/s friction falls linearly to nothing; 0 for a damper as strong as the contact's own.
    pub slip: T,
    /// Whether L - eps is in the law (else L).
    pub corner: bool,
}

impl Contact<f64> {
    /// The damper that friction with a slip speed is near rest, in N s/m, of a contact so many metres deep.
    pub fn rubbing(&self, depth: f64) -> f64 {
        let from = if self.corner { self.region } else { 0.0 };
        if self.slip > 0.0 { self.friction * self.stiffness * (depth + from) / self.slip } else { 0.0 }
    }

    /// The same in an engine's numbers.
    pub fn narrow<T: Real>(&self) -> Contact<T> {
        let Self { stiffness, damping, integral, region, friction, slip, corner } = *self;
        let [stiffness, damping, integral, region, friction, slip] =
            [stiffness, damping, integral, region, friction, slip].map(T::of);
        Contact { stiffness, damping, integral, region, friction, slip, corner }
    }
}

impl<T: Real> Contact<T> {
    /// The normal force: 7 operations. It only pushes.
    pub fn push(&self, distance: T, rate: T, integral: T) -> T {
        if distance >= self.region {
            return T::zero();
        }
        let from = if self.corner { self.region } else { T::zero() };
        let force = -self.stiffness * (distance - from) - self.damping * rate - self.integral * integral;
        force.max(T::zero())
    }

    /// The integral after a step of length h at this distance: 3 operations.
    pub fn integrate(&self, integral: T, distance: T, h: T) -> T {
        if distance >= self.region { T::zero() } else { (integral + h * distance).min(T::zero()) }
    }

    /// Kinetic friction against a tangential velocity: 10 operations and a root. Near rest it acts as a damper, which is
    /// what makes it vanish there: of mu times the push over the slip speed, or without one of the contact's own size.
    pub fn drag(&self, push: T, slip: &Vector<T>) -> Vector<T> {
        let (limit, speed) = (self.friction * push, slip.norm());
        if self.slip > T::zero() {
            return *slip * (-limit / speed.max(self.slip));
        }
        let coefficient = if limit >= self.damping * speed { self.damping } else { limit / speed };
        // Without friction there is none at rest either.
        let coefficient = if limit > T::zero() { coefficient } else { T::zero() };
        *slip * -coefficient
    }

    /// Push along `n` and drag together, of a relative velocity.
    pub fn force(&self, distance: T, n: &Vector<T>, velocity: &Vector<T>, integral: T) -> Vector<T> {
        self.with_drag(self.push(distance, velocity.dot(n), integral), n, velocity)
    }

    /// A push along `n` and the drag that comes with it.
    pub fn with_drag(&self, push: T, n: &Vector<T>, velocity: &Vector<T>) -> Vector<T> {
        if push <= T::zero() {
            return Vector::zeros();
        }
        *n * push + self.drag(push, &(velocity - *n * velocity.dot(n)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Vec3;
    use proptest::prelude::*;

    const LAW: Contact<f64> = Contact {
        stiffness: 1000.0,
        damping: 40.0,
        integral: 2000.0,
        region: 0.005,
        friction: 0.3,
        slip: 0.0,
        corner: true,
    };

    /// A mass of 1 kg under a weight, let fall on a floor: where it ends.
    fn rest(law: &Contact<f64>, weight: f64) -> f64 {
        let (mut x, mut v, mut s, h) = (0.02, 0.0, 0.0, 1e-4);
        for _ in 0..400_000 {
            s = law.integrate(s, x, h);
            let force = law.push(x, v, s) - weight;
            x += h * v;
            v += h * force;
        }
        x
    }

    #[test]
    fn where_a_weight_rests() {
        let plain = Contact { integral: 0.0, region: 0.0, ..LAW };
        assert!((rest(&plain, 9.8) + 0.0098).abs() < 1e-6);
        assert!(rest(&LAW, 9.8).abs() < 1e-6, "more than K eps: at the surface");
        assert!((rest(&LAW, 2.0) - 0.003).abs() < 1e-6, "less: within the region");
    }

    proptest! {
        /// With a slip speed: linear below it, mu times the push above, whatever the damping.
        #[test]
        fn friction_with_a_slip_speed_needs_no_damping(push in 0.0f64..1e3, slip in prop::array::uniform3(-0.1f64..0.1), damping in 0.0f64..100.0) {
            let (law, slip) = (Contact { slip: 0.05, damping, ..LAW }, Vec3::from(slip));
            let drag = law.drag(push, &slip);
            let share = (slip.norm() / 0.05).min(1.0);
            prop_assert!((drag.norm() - 0.3 * push * share).abs() <= 1e-12 * (1.0 + push));
            prop_assert!((drag.dot(&slip) + drag.norm() * slip.norm()).abs() <= 1e-12 * (1.0 + push), "it opposes");
            prop_assert!(drag.norm() <= law.rubbing(push / law.stiffness) * slip.norm() * (1.0 + 1e-12));
        }

        #[test]
        fn friction_is_mu_times_push_and_opposes(push in 0.0f64..1e3, slip in prop::array::uniform3(-9.0f64..9.0)) {
            let slip = Vec3::from(slip);
            let drag = LAW.drag(push, &slip);
            prop_assert!(drag.dot(&slip) <= 0.0 && drag.cross(&slip).norm() < 1e-9 * (1.0 + drag.norm() * slip.norm()));
            prop_assert!(drag.norm() <= 0.3 * push * (1.0 + 1e-12));
            if LAW.damping * slip.norm() > 0.3 * push {
                prop_assert!((drag.norm() - 0.3 * push).abs() < 1e-9 * (1.0 + push));
            }
            prop_assert_eq!(Contact { friction: 0.0, ..LAW }.drag(push, &slip), Vec3::zeros());
        }
    }
}

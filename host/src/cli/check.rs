//! `nendo scene check`: is a scene's step stable, and which engines can compute it?

use super::{CommandError, Console, engine::remedies, options::SceneArg};
use crate::{
    engine::{
        EngineKind, EngineOptions,
        choice::{hindrance, too_little},
    },
    progress,
};
use anyhow::anyhow;
use nendo_model::{
    contract::{
        image::Image,
        numbers::{Inverse, Profile},
        scaling::{Expectation, Scaling},
    },
    engine::{
        InProcess,
        reference::{Integrator, Reference},
        stability::Stability,
    },
    scene::{ScalingRequest, Scene},
};
use serde_json::{Value, json};

#[derive(clap::Args, Debug)]
#[command(
    after_help = "Sound is a scene that some engine computes stably; with --profile, that the model computes in it.
Examples:
  nendo scene check my.toml
  nendo scene check my.toml --rehearse       run it in f64 and suggest the best units"
)]
pub(super) struct Args {
    #[command(flatten)]
    scene: SceneArg,
    /// Run the scene in f64 first and suggest a [scaling] table from what it really needs
    #[arg(long)]
    rehearse: bool,
    /// Only this profile
    #[arg(long, value_name = "P")]
    profile: Option<Profile>,
}

/// In the order in which engines are looked for.
const ENGINES: [EngineKind; 6] = [
    EngineKind::Model,
    EngineKind::Rtl,
    EngineKind::Board,
    EngineKind::Hybrid,
    EngineKind::F32,
    EngineKind::F64,
];

pub(super) fn main(args: &Args, console: Console) -> Result<Value, CommandError> {
    let scene = args.scene.open()?;
    let stability = Stability::of(&scene, Integrator::Euler);
    let step = stability.copyable_step();
    let unstable = stability.complaint();
    console.answer(match &unstable {
        None => format!("stable: step {} s, {}", scene.step, stability.limit()),
        Some(text) => text.clone(),
    });
    let profiles = args.profile.map_or(Profile::ALL.to_vec(), |p| vec![p]);
    let verdicts: Vec<(String, Fit)> =
        profiles.iter().map(|p| (p.to_string(), Fit::of(&scene, *p))).collect();
    console.answer(grouped(verdicts.iter().map(|(profile, fit)| (profile.as_str(), fit.text.as_str()))));

    let options = EngineOptions {
        profile: args.profile.unwrap_or_default(),
        inverse: args.profile.unwrap_or_default().usual_inverse(),
        ..EngineOptions::default()
    };
    let engines = ENGINES.map(|kind| {
        let why_not = unstable.clone().or_else(|| hindrance(&scene, kind, &options));
        (kind, why_not)
    });
    let able = |kind: EngineKind| engines.iter().any(|(k, why_not)| *k == kind && why_not.is_none());
    console
        .answer(grouped(engines.iter().map(|(k, why_not)| (k.name(), why_not.as_deref().unwrap_or("yes")))));
    let sound = match args.profile {
        Some(_) => able(EngineKind::Model),
        None => ENGINES.into_iter().any(able),
    };

    let rehearsal = (args.rehearse && unstable.is_none())
        .then(|| rehearse(&scene, options.profile, console))
        .transpose()?;
    let verdict = |why_not: Option<String>| why_not.map_or(json!(true), Value::String);
    let report = json!({
        "scene": scene.name,
        "sound": sound,
        "stable": unstable.is_none(),
        "largest_stable_step_s": step,
        "limited_by": stability.limited_by,
        "profiles": verdicts.into_iter().map(|(profile, fit)| (profile, fit.json)).collect::<Value>(),
        "engines": engines.into_iter().map(|(kind, why_not)| (kind.name(), verdict(why_not))).collect::<Value>(),
        "rehearsal": rehearsal,
    });
    if sound {
        return Ok(report);
    }
    let remedies = match unstable {
        Some(_) => remedies(&scene, &stability),
        None => String::new(),
    };
    let remedies = remedies.trim_end_matches(", ");
    let colon = if remedies.is_empty() { "" } else { ": " };
    Err(CommandError::Run(anyhow!("scene {} is not sound{colon}{remedies}", scene.name), Some(report)))
}

/// Whether a profile's words hold a scene.
struct Fit {
    text: String,
    json: Value,
}

impl Fit {
    fn of(scene: &Scene, profile: Profile) -> Self {
        let image = match Image::new(scene, profile, Inverse::default()) {
            Ok(image) => image,
            Err(error) => {
                let json = json!({ "fits": false, "reason": error.to_string() });
                return Self { text: format!("does not fit: {error}"), json };
            }
        };
        let room = image.scaling.headroom(scene, image.numbers());
        let reason = too_little(scene, profile);
        let text = match &reason {
            None => format!("fits; expected headroom: {room}"),
            Some(_) => format!("does not fit; expected headroom, which should be 1 or more: {room}"),
        };
        let mut json = json!({ "fits": reason.is_none(), "scaling": image.scaling, "headroom": room });
        if let Some(reason) = reason {
            json["reason"] = Value::String(reason);
        }
        Self { text, json }
    }
}

/// A line for each verdict, with the names of all that it is of.
fn grouped<'a>(verdicts: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut lines: Vec<(Vec<&str>, &str)> = Vec::new();
    for (name, verdict) in verdicts {
        match lines.iter_mut().find(|line| line.1 == verdict) {
            Some(line) => line.0.push(name),
            None => lines.push((vec![name], verdict)),
        }
    }
    let lines: Vec<String> =
        lines.iter().map(|(names, verdict)| format!("{}: {verdict}", names.join(", "))).collect();
    lines.join("\n")
}

fn rehearse(scene: &Scene, profile: Profile, console: Console) -> Result<Value, CommandError> {
    let mut engine = Reference::new(scene, Integrator::Euler);
    let mut seen = Expectation::ZERO;
    let mut look = |e: &Reference| seen.observe(scene, (&e.positions(), &e.velocities()), e.elements());
    look(&engine);
    progress::in_pieces("rehearsal", scene.steps_for(scene.duration), |n| {
        for _ in 0..n {
            let advanced = engine.advance(1);
            advanced.map_err(|_| CommandError::Run(anyhow!("the rehearsal diverged"), None))?;
            look(&engine);
        }
        Ok::<_, CommandError>(true)
    })?;
    let fit = Scaling::fit(scene, profile, &seen, &ScalingRequest::default()).map_err(CommandError::input)?;
    console.answer(format!(
        "rehearsal over {} s: positions within {:.4e} m of the centre, velocities {:.4e} m/s, extensions {:.4e} m, forces {:.4e} N",
        scene.duration, seen.position, seen.velocity, seen.extension, seen.force
    ));
    console.answer(format!(
        "suggested for profile {profile}:\n[scaling]\nlength = {:?}\nmass = {:?}\nvelocity_exponent = {}\nextension_exponent = {}",
        fit.length, fit.mass, fit.velocity_exponent, fit.extension_exponent
    ));
    Ok(json!({ "peaks": seen, "scaling": fit }))
}

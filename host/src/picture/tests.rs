use super::*;
use crate::plot;

fn state(scene: &Scene, time: f64, change: impl Fn(&Vec3) -> Vec3) -> State {
    let positions: Vec<Vec3> = scene.mesh.particles.iter().map(change).collect();
    let values = displacements(scene, &positions).iter().map(Vec3::norm).collect();
    State { time, positions, values }
}

fn rows(states: Vec<State>) -> Vec<Row> {
    let panels = states.into_iter().map(|state| Panel { state, title: String::new() }).collect();
    vec![Row { title: String::new(), panels }]
}

fn drawn(scene: &Scene, look: &Look, states: Vec<State>) -> String {
    let size = (260 * states.len() as u32, 240);
    sheet(scene, look, Some(size), &rows(states), &Caption::default())
}

fn look(view: &str) -> Look {
    Look { view: view.parse().unwrap(), ..Look::default() }
}

/// The points of all paths of the groups of a class, group by group.
fn groups(svg: &str, class: &str) -> Vec<Vec<(f64, f64)>> {
    let head = format!("<g class=\"{class}\">");
    let parts = svg.split(&head).skip(1);
    parts
        .map(|part| {
            let part = part.split("</g>\n").next().unwrap();
            let paths = part.split("d=\"").skip(1).map(|d| d.split('"').next().unwrap());
            let numbers = |d: &str| -> Vec<f64> {
                d.split(['M', 'L', 'Z', ' ']).filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect()
            };
            paths.flat_map(|d| numbers(d).chunks(2).map(|xy| (xy[0], xy[1])).collect::<Vec<_>>()).collect()
        })
        .collect()
}

fn spans(points: &[(f64, f64)]) -> [(f64, f64); 2] {
    let span = |along: &dyn Fn(&(f64, f64)) -> f64| {
        points.iter().map(along).fold((f64::MAX, f64::MIN), |(l, h), c| (l.min(c), h.max(c)))
    };
    [span(&|p| p.0), span(&|p| p.1)]
}

#[test]
fn bodies_sheets_and_chains_are_drawn() {
    for (name, shape) in [("box:3x3x3", "<path"), ("box:4x4x1", "<path"), ("box:4x1x1", "<circle")] {
        let scene = Scene::open(name).unwrap();
        for edges in [false, true] {
            let look = Look { edges, ..Look::default() };
            let svg = drawn(&scene, &look, vec![state(&scene, 0.0, |p| *p)]);
            assert!(svg.contains(shape) && !svg.contains("NaN"), "{name}");
            assert!(plot::png(&svg).is_ok());
            // The lattice shows if it is asked for.
            assert_eq!(svg.contains("stroke-opacity"), edges && shape == "<path", "{name}");
        }
    }
}

const TOOLS: &str = "step = 0.001\nmass = 1\n[mesh.box]\nsize = [3, 3, 3]\npitch = 1\n\
    [materials.m]\nk1 = 1\nc1 = 1\nc2 = 1\n[contact]\nstiffness = 1\n\
    [[boundaries]]\nplane = { point = [50, 0, -1], normal = [0, 0, 1] }\n\
    [[boundaries]]\nname = \"roller\"\nroller = { center = [-2, 0, 3], axis = [0, 1, 0], radius = 1 }\nspin = 1\n\
    frames = [{ t = 1, offset = [4, 0, -0.5] }]\n";

/// Pictures had the object hover, pressed by nothing. From the front the roller is a circle about (-2 + 4 t, 3 - t / 2).
#[test]
fn boundaries_are_drawn_where_they_are_at_the_time() {
    let scene = Scene::parse(TOOLS, "tools.toml").unwrap();
    let times = [0.0, 0.5, 2.0];
    let svg = drawn(&scene, &look("front"), times.iter().map(|&t| state(&scene, t, |p| *p)).collect());
    let rollers: Vec<_> = groups(&svg, "tool").iter().map(|points| spans(points)).collect();
    assert_eq!((rollers.len(), groups(&svg, "floor").len()), (3, 3));
    let middle = |(low, high): (f64, f64)| (low + high) / 2.0;
    // Pixels for a metre, of the radius.
    let scale = (rollers[0][0].1 - rollers[0][0].0) / 2.0;
    assert!(scale > 10.0, "{rollers:?}");
    for (time, [x, y]) in times.into_iter().zip(&rollers) {
        let share = time.min(1.0);
        let moved = [middle(*x) - middle(rollers[0][0]), middle(*y) - middle(rollers[0][1])];
        let expected = [4.0 * share * scale, 0.5 * share * scale];
        assert!(
            (0..2).all(|k| (moved[k] - expected[k]).abs() < 0.5),
            "{time} s: {moved:?}, not {expected:?}"
        );
    }
    // From the front, the floor is the line two radii below... the box's bottom at -1 touches it.
    let floor = spans(&groups(&svg, "floor")[0])[1];
    assert!(
        (floor.1 - floor.0) < 0.3 && (floor.0 - middle(rollers[0][1]) - 4.0 * scale).abs() < 0.5,
        "{floor:?}"
    );
}

/// What a tool hides is drawn before it, what hides it after it.
#[test]
fn tools_hide_what_is_behind_them_and_nothing_else() {
    for (bar, front) in
        [("[-0.5, -9, -0.5], max = [0.5, -8", true), ("[-0.5, 8, -0.5], max = [0.5, 9", false)]
    {
        let text = TOOLS.split("[[boundaries]]").next().unwrap().to_owned();
        let scene =
            Scene::parse(&format!("{text}[[boundaries]]\nbar = {{ min = {bar}, 0.5] }}\n"), "bar.toml")
                .unwrap();
        let svg = drawn(&scene, &look("front"), vec![state(&scene, 0.0, |p| *p)]);
        let (before, after) = svg.split_once("<g class=\"tool\">").unwrap();
        let pieces = |part: &str| part.matches("stroke-width=\".7\"").count();
        assert_eq!(pieces(before) > 0, front, "{bar}");
        // Of the face that is 2 by 2, the bar hides 1 by 1.
        let share = pieces(before) as f64 / (pieces(before) + pieces(after)) as f64;
        assert!((share - if front { 0.25 } else { 0.0 }).abs() < 0.06, "{share}");
    }
}

/// A state drawn beside a larger one keeps its size, and colours mean the same in both.
#[test]
fn a_series_is_drawn_on_one_scale() {
    let scene = Scene::open("box:3x3x3").unwrap();
    let [one, two] = [1.0, 2.0].map(|by| state(&scene, 0.0, |p| p * by));
    let states = [&one, &two];
    let stage = Stage::new(&scene, &look("front"), (300.0, 300.0), &states);
    let width = |state: &State| {
        let along: Vec<_> = state.positions.iter().map(|p| stage.camera.place(*p)).collect();
        let [x, _] = spans(&along);
        x.1 - x.0
    };
    assert!((width(&two) / width(&one) - 2.0).abs() < 1e-9);
    assert!((width(&two) - 240.0).abs() < 1e-9, "a tenth is left free at either side");
    // The farthest corner moves by the half of the diagonal, which is that of a cube with sides of 20 m.
    assert!((stage.scale.most - 300f64.sqrt()).abs() < 1e-9);
    let asked = Look { scale: Some(0.5), ..look("front") };
    assert_eq!(Stage::new(&scene, &asked, (300.0, 300.0), &states).scale.most, 0.5);
}

#[test]
fn rows_of_states_have_titles_and_the_size_asked_for() {
    let scene = Scene::open("box:3x3x3").unwrap();
    let panel = |by: f64| Panel { state: state(&scene, 0.0, |p| p * by), title: format!("times {by}") };
    let row = |title: &str| Row { title: title.to_owned(), panels: vec![panel(1.0), panel(1.5)] };
    let rows = [row("soft"), row("hard")];
    for (size, expected) in
        [(None, "width=\"840\" height=\"680\""), (Some((500, 400)), "width=\"500\" height=\"400\"")]
    {
        let svg = sheet(&scene, &Look::default(), size, &rows, &Caption::default());
        for part in ["soft", "hard", "times 1.5", expected] {
            assert!(svg.contains(part), "{part}");
        }
    }
}

/// One particle that flew away made the object a dot; now it is left out, and the caption says so.
#[test]
fn particles_that_flew_away_are_left_out_and_counted() {
    let mut scene = Scene::open("box:5x5x5").unwrap();
    scene.name = "</svg><script>&".to_owned();
    let sound = state(&scene, 0.0, |p| *p);
    let (mut burst, mut lost) = (sound.clone(), sound.clone());
    (burst.positions[0].x, burst.positions[7].z) = (1e7, f64::NAN);
    lost.positions.iter_mut().for_each(|p| *p *= 1e9);
    let [whole, rest, nothing] =
        [&sound, &burst, &lost].map(|s| Stage::new(&scene, &look("iso"), (400.0, 300.0), &[s]));
    let corner = Vec3::new(2.0, 2.0, -2.0);
    let [a, b] = [&whole, &rest].map(|stage| stage.camera.place(corner));
    assert!((a.0 - b.0).hypot(a.1 - b.1) < 20.0, "{a:?} {b:?}");
    assert_eq!((whole.out_of_picture(&sound), rest.out_of_picture(&burst)), (0, 2));
    assert!(nothing.out_of_picture(&lost) > 100);
    for (state, says) in
        [(sound, ""), (burst, "2 of 125 particles out of the picture"), (lost, "of 125 particles out")]
    {
        let svg = drawn(&scene, &Look::default(), vec![state]);
        assert!(svg.contains(says) && svg.contains("out of the picture") != says.is_empty(), "{says}");
        assert!(plot::png(&svg).is_ok() && !svg.contains("NaN") && !svg.contains("<script>"));
    }
}

/// Half of a cube from the front: the section is where the cut is, not where the surface was.
#[test]
fn a_cut_hides_what_is_before_it_and_shows_the_inside() {
    let scene = Scene::open("box:3x3x3").unwrap();
    let inside = |look: &Look| {
        let stage = Stage::new(&scene, look, (300.0, 300.0), &[&state(&scene, 0.0, |p| *p)]);
        let knife = look.cut.map(|cut| Knife::new(cut, &stage.camera, true));
        let brush = Brush {
            scene: &scene,
            time: 0.0,
            camera: &stage.camera,
            scale: &stage.scale,
            knife,
            edges: false,
        };
        let values: Vec<f64> = scene.mesh.particles.iter().map(|p| p.norm()).collect();
        brush.pieces(&scene.mesh.particles, &values).iter().map(|piece| piece.at.y).collect::<Vec<_>>()
    };
    let whole = inside(&look("front"));
    assert!(whole.iter().all(|y| (y + 10.0).abs() < 1e-9), "the face in front");
    let cut = inside(&Look { cut: Some("y=0.25".parse().unwrap()), ..look("front") });
    assert!(!cut.is_empty() && cut.iter().all(|y| (y - 0.25).abs() < 1e-9), "{cut:?}");
}

#[test]
fn pins_are_marked_where_they_are_seen() {
    let mut scene = Scene::open("box:3x3x3").unwrap();
    for (p, at) in scene.mesh.particles.iter().enumerate() {
        if at.y < -0.5 && at.z < -0.5 {
            scene.support[p] = nendo_model::scene::Support::Pinned;
        }
    }
    let svg = drawn(&scene, &look("front"), vec![state(&scene, 0.0, |p| *p)]);
    // Three at the lower edge in front, and one in the legend.
    assert_eq!(svg.matches("class=\"pinned\"").count(), 4);
    assert!(svg.contains(">pinned<"));
}

/// Rings were drawn around particles that had been let go.
#[test]
fn what_is_let_go_is_marked_no_longer() {
    let motion = "[[motions]]\non = { face = \"z-max\" }\nrelease = 1.0\nat-rest = true\nframes = [{ t = 1, offset = [0, 0, 1] }]\n";
    let scene = Scene::parse(&format!("{TOOLS}{motion}"), "let-go.toml").unwrap();
    let rings = |time| {
        drawn(&scene, &look("top"), vec![state(&scene, time, |p| *p)]).matches("class=\"moved\"").count()
    };
    // Nine on top, and the legend's.
    assert_eq!((rings(0.5), rings(1.5)), (10, 1));
}

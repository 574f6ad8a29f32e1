//! Combinational operations on nets: widths and stages are checked where they are built.

use super::{Build, Net};

impl Build {
    /// `a + b`, wrapping.
    pub fn add(&mut self, a: &Net, b: &Net) -> Net {
        self.binary(a, "+", b)
    }

    /// `a - b`, wrapping.
    pub fn sub(&mut self, a: &Net, b: &Net) -> Net {
        self.binary(a, "-", b)
    }

    /// Bitwise and.
    pub fn and(&mut self, a: &Net, b: &Net) -> Net {
        self.binary(a, "&", b)
    }

    /// Bitwise or.
    pub fn or(&mut self, a: &Net, b: &Net) -> Net {
        self.binary(a, "|", b)
    }

    /// Bitwise exclusive or.
    pub fn xor(&mut self, a: &Net, b: &Net) -> Net {
        self.binary(a, "^", b)
    }

    fn binary(&mut self, a: &Net, op: &str, b: &Net) -> Net {
        let (bits, stage) = (self.same_bits(&[a, b]), self.stage_of(&[a, b]));
        self.wire(bits, stage, format!("{} {op} {}", a.text, b.text))
    }

    /// `a + b + carry` with a one-bit carry.
    pub fn add_carry(&mut self, a: &Net, b: &Net, carry: &Net) -> Net {
        let (bits, stage) = (self.same_bits(&[a, b]), self.stage_of(&[a, b, carry]));
        // One adder, a bit longer: synthesis would make two of a sum of three.
        let sum =
            self.wire(bits + 1, stage, format!("{{{}, 1'b1}} + {{{}, {}}}", a.text, b.text, carry.text));
        self.slice(&sum, 1, bits)
    }

    /// `a + carry`.
    pub fn increment(&mut self, a: &Net, carry: &Net) -> Net {
        let carry = self.zero_extend(carry, a.bits);
        self.add(a, &carry)
    }

    /// Bitwise not.
    pub fn not(&mut self, a: &Net) -> Net {
        self.wire(a.bits, a.stage, format!("~{}", a.text))
    }

    /// All bits of `nets` or-ed into one.
    pub fn any(&mut self, a: &Net) -> Net {
        if a.bits == 1 { a.clone() } else { self.wire(1, a.stage, format!("|{}", a.text)) }
    }

    /// One when every bit is one.
    pub fn all(&mut self, a: &Net) -> Net {
        if a.bits == 1 { a.clone() } else { self.wire(1, a.stage, format!("&{}", a.text)) }
    }

    /// The or of several one-bit nets.
    pub fn or_all(&mut self, nets: &[Net]) -> Net {
        nets[1..].iter().fold(nets[0].clone(), |sum, net| self.or(&sum, net))
    }

    /// Equality.
    pub fn eq(&mut self, a: &Net, b: &Net) -> Net {
        self.compare(a, "==", b)
    }

    /// `a < b`, both unsigned.
    pub fn less(&mut self, a: &Net, b: &Net) -> Net {
        self.compare(a, "<", b)
    }

    fn compare(&mut self, a: &Net, op: &str, b: &Net) -> Net {
        self.same_bits(&[a, b]);
        let stage = self.stage_of(&[a, b]);
        self.wire(1, stage, format!("{} {op} {}", a.text, b.text))
    }

    /// `a < b`, both signed.
    pub fn less_signed(&mut self, a: &Net, b: &Net) -> Net {
        self.same_bits(&[a, b]);
        let stage = self.stage_of(&[a, b]);
        self.wire(1, stage, format!("$signed({}) < $signed({})", a.text, b.text))
    }

    /// The one of `choices` whose number `index` is; beyond their number, any.
    pub fn choose(&mut self, index: Option<&Net>, choices: &[Net]) -> Net {
        let [first, ..] = choices else { panic!("{}: a choice of nothing", self.kind) };
        let Some(index) = index.filter(|_| choices.len() > 1) else { return first.clone() };
        let half = 1 << (index.bits - 1);
        if choices.len() <= half {
            let lower = self.slice(index, 0, index.bits - 1);
            return self.choose(Some(&lower), choices);
        }
        let upper = self.bit(index, index.bits - 1);
        let lower = (index.bits > 1).then(|| self.slice(index, 0, index.bits - 1));
        let low = self.choose(lower.as_ref(), &choices[..half]);
        let high = self.choose(lower.as_ref(), &choices[half..]);
        self.mux(&upper, &high, &low)
    }

    /// `then` if the one-bit `condition` holds, else `otherwise`.
    pub fn mux(&mut self, condition: &Net, then: &Net, otherwise: &Net) -> Net {
        assert_eq!(condition.bits, 1, "{}: a condition has one bit", self.kind);
        let bits = self.same_bits(&[then, otherwise]);
        let stage = self.stage_of(&[condition, then, otherwise]);
        self.wire(bits, stage, format!("{} ? {} : {}", condition.text, then.text, otherwise.text))
    }

    /// Bits `low` to `low + bits - 1`.
    pub fn slice(&mut self, a: &Net, low: u32, bits: u32) -> Net {
        assert!(bits > 0 && low + bits <= a.bits, "{}: {low}+{bits} of {a:?}", self.kind);
        if bits == a.bits {
            return a.clone();
        }
        let text = if bits == 1 {
            format!("{}[{low}]", a.text)
        } else {
            format!("{}[{}:{low}]", a.text, low + bits - 1)
        };
        // Verilog has no slices of literals.
        assert!(!a.text.contains('\''), "{}: slice of a literal", self.kind);
        self.wire(bits, a.stage, text)
    }

    /// One bit.
    pub fn bit(&mut self, a: &Net, index: u32) -> Net {
        self.slice(a, index, 1)
    }

    /// The most significant bit.
    pub fn sign(&mut self, a: &Net) -> Net {
        self.slice(a, a.bits - 1, 1)
    }

    /// Bits side by side, most significant first.
    pub fn concat(&mut self, parts: &[&Net]) -> Net {
        let stage = self.stage_of(parts);
        let texts: Vec<&str> = parts.iter().map(|p| &*p.text).collect();
        self.wire(parts.iter().map(|p| p.bits).sum(), stage, format!("{{{}}}", texts.join(", ")))
    }

    /// Wider by zeros.
    pub fn zero_extend(&mut self, a: &Net, bits: u32) -> Net {
        assert!(bits >= a.bits, "{}: {a:?} to {bits}", self.kind);
        if bits == a.bits {
            return a.clone();
        }
        let zeros = self.constant(0, bits - a.bits);
        self.concat(&[&zeros, a])
    }

    /// Wider by copies of the sign.
    pub fn sign_extend(&mut self, a: &Net, bits: u32) -> Net {
        assert!(bits >= a.bits, "{}: {a:?} to {bits}", self.kind);
        if bits == a.bits {
            return a.clone();
        }
        let sign = self.sign(a);
        self.wire(bits, a.stage, format!("{{{{{}{{{}}}}}, {}}}", bits - a.bits, sign.text, a.text))
    }

    /// Times two to the `by`: wider by zeros below.
    pub fn shift_left(&mut self, a: &Net, by: u32) -> Net {
        if by == 0 {
            return a.clone();
        }
        let zeros = self.constant(0, by);
        self.concat(&[a, &zeros])
    }

    /// `a - b` of signed numbers, one bit wider.
    pub fn sub_signed(&mut self, a: &Net, b: &Net) -> Net {
        let bits = a.bits.max(b.bits) + 1;
        let (a, b) = (self.sign_extend(a, bits), self.sign_extend(b, bits));
        self.sub(&a, &b)
    }

    /// `a + b` of signed numbers, one bit wider.
    pub fn add_signed(&mut self, a: &Net, b: &Net) -> Net {
        let bits = a.bits.max(b.bits) + 1;
        let (a, b) = (self.sign_extend(a, bits), self.sign_extend(b, bits));
        self.add(&a, &b)
    }

    /// The negative of a signed number, one bit wider.
    pub fn negate(&mut self, a: &Net) -> Net {
        let wide = self.sign_extend(a, a.bits + 1);
        let zero = self.constant(0, wide.bits);
        self.sub(&zero, &wide)
    }

    /// Whether a signed number fits into `bits` bits.
    pub fn fits(&mut self, a: &Net, bits: u32) -> Net {
        if bits >= a.bits {
            return self.constant(1, 1);
        }
        let top = self.slice(a, bits - 1, a.bits - bits + 1);
        let (ones, inverted) = (self.all(&top), self.any(&top));
        let zeros = self.not(&inverted);
        self.or(&ones, &zeros)
    }
}

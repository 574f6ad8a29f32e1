//! Choice of the vector instruction set at run time.

/// An instruction set with vectors of 256 bits, fused multiplication and rounding (AVX2).
#[cfg(target_arch = "x86_64")]
pub(crate) type Vectors = pulp::x86::V3;
/// No such set: never made.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) type Vectors = std::convert::Infallible;

/// Runs `work` compiled for the vector instruction set.
#[inline(always)]
pub(crate) fn vectorize<R>(vectors: Vectors, work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    return vectors.vectorize(work);
    #[cfg(not(target_arch = "x86_64"))]
    {
        drop(work);
        match vectors {}
    }
}

/// The vector instruction set, if this machine has it.
pub(crate) fn available() -> Option<Vectors> {
    #[cfg(target_arch = "x86_64")]
    return pulp::x86::V3::try_new();
    #[cfg(not(target_arch = "x86_64"))]
    None
}

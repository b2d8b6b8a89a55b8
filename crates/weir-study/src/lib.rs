//! Study file to plan to runs to result: the experiment itself, and its rules.

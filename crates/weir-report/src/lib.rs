//! A result as HTML, JSON and Markdown.

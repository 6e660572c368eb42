//! Elements of HTML, SVG and XML: balanced and escaped by the way they are made.
//!
//! ```text
//! element("td").attr("class", "name").text("<b> & co")     <td class="name">&lt;b&gt; &amp; co</td>
//! ```
//!
//! There is no way to put foreign text on a page that is not escaped here, and every name of an element or attribute
//! is a literal. What is made is well-formed XML as well as HTML.

use std::fmt::{Display, Write};

/// Elements that HTML or SVG lets stand without an end.
const VOID: &[&str] = &["circle", "input", "link", "meta", "path", "rect"];

/// An element with its attributes and content.
#[must_use]
pub(super) struct Element {
    name: &'static str,
    attributes: String,
    content: String,
}

/// An element without attributes and content.
pub(super) fn element(name: &'static str) -> Element {
    Element { name, attributes: String::new(), content: String::new() }
}

impl Element {
    /// Adds an attribute; no name may come twice.
    pub(super) fn attr(mut self, name: &'static str, value: impl Display) -> Self {
        self.attributes.push(' ');
        self.attributes.push_str(name);
        self.attributes.push_str("=\"");
        escape(&value.to_string(), &mut self.attributes);
        self.attributes.push('"');
        self
    }

    /// Adds the attribute `class`.
    pub(super) fn class(self, name: &str) -> Self {
        self.attr("class", name)
    }

    /// Adds text, which stays text.
    pub(super) fn text(mut self, text: impl AsRef<str>) -> Self {
        escape(text.as_ref(), &mut self.content);
        self
    }

    /// Adds text in which whatever stands between two backticks is code.
    pub(super) fn prose(self, text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        let parts: Vec<&str> = text.split('`').collect();
        if parts.len().is_multiple_of(2) {
            return self.text(text);
        }
        parts.iter().enumerate().fold(self, |all, (index, part)| match index % 2 {
            0 => all.text(part),
            _ => all.child(element("code").text(part)),
        })
    }

    /// Adds a literal of ours that is no text: a script, a style.
    pub(super) fn literal(mut self, source: &'static str) -> Self {
        self.content.push_str(source);
        self
    }

    /// Adds an element.
    pub(super) fn child(mut self, child: Element) -> Self {
        child.write(&mut self.content);
        self
    }

    /// Adds elements.
    pub(super) fn children(self, children: impl IntoIterator<Item = Element>) -> Self {
        children.into_iter().fold(self, Element::child)
    }

    /// Adds elements, each on a line of its own.
    pub(super) fn lines(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        for child in children {
            self.content.push('\n');
            child.write(&mut self.content);
        }
        self.content.push('\n');
        self
    }

    /// Bytes of the content so far.
    pub(super) fn len(&self) -> usize {
        self.content.len()
    }

    /// The element as it stands in a file.
    pub(super) fn into_string(self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(self, out: &mut String) {
        let Element { name, attributes, content } = self;
        let written = if content.is_empty() && VOID.contains(&name) {
            write!(out, "<{name}{attributes}/>")
        } else {
            write!(out, "<{name}{attributes}>{content}</{name}>")
        };
        written.expect("a string takes everything");
    }
}

/// Escapes for content and attributes alike. What XML cannot hold at all becomes the sign for a lost character.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let check = |element: Element, expected: &str| assert_eq!(element.into_string(), expected);
        check(element("td"), "<td></td>");
        check(element("path").attr("d", "M0 1"), r#"<path d="M0 1"/>"#);
        check(element("b").text("<i>&\"'\u{0}"), "<b>&lt;i&gt;&amp;&quot;&#39;\u{fffd}</b>");
        check(element("a").attr("title", "\"><x"), r#"<a title="&quot;&gt;&lt;x"></a>"#);
        check(element("p").prose("see `a<b` or c"), "<p>see <code>a&lt;b</code> or c</p>");
        check(element("p").prose("a ` alone"), "<p>a ` alone</p>");
        check(element("ul").lines([element("li")]), "<ul>\n<li></li>\n</ul>");
    }
}

/** Where relative links of a document lead. Without it they stay as written. */
export type RelativeLinks = {
  /** URL of the project, or of the group, without a slash at the end. Its uploads lie below. */
  readonly home: string
  /** The files of a repository at a ref, or the pages of a wiki; absent if there are neither. */
  readonly of?: { readonly kind: 'files'; readonly ref: string } | { readonly kind: 'wiki' }
  /** Folder of the document there, without slashes around it; '' for the root. */
  readonly folder: string
}

/** External images are fetched through this proxy, which serves only URLs that are signed with the secret. */
export type AssetProxy = {
  readonly url: string
  readonly secret: string
  /** Hosts whose images are not proxied; `*` matches any characters. */
  readonly allowlist: readonly string[]
}

/** Everything that the HTML of a document depends on, besides its text, who reads it, and when. */
export type MarkdownContext = {
  /** URL of the installation, without a slash at the end: its own URLs are references. */
  readonly siteUrl: string
  /** A line of text without Markdown, such as a title: only URLs, references and emoji codes have a meaning. */
  readonly inline?: boolean
  /** CommonMark with the extensions of GitHub only: no references and no emoji codes. */
  readonly plain?: boolean
  readonly links?: RelativeLinks
  readonly assetProxy?: AssetProxy
}

export type MarkdownDocument = { readonly text: string; readonly context: MarkdownContext }

/**
 * `#` issue, `!` merge request, `&` epic, `$` snippet, `~` label, `%` milestone, `@` user or group, `commit` by its hash, `range`
 * of two commits.
 */
export type ReferenceKind = '#' | '!' | '&' | '$' | '~' | '%' | '@' | 'commit' | 'range'

/** What a document refers to, if it exists and the reader may see it. */
export type ReferenceTarget = {
  readonly kind: ReferenceKind
  /**
   * Path of the project or group as written. Without a slash, a project is beside that of the document. Absent for the project or group of the
   * document.
   */
  readonly path?: string
  /** Number, name, title, hash, or `hash..hash`, as written. */
  readonly name: string
  /** The name was quoted, so digits are no number. */
  readonly quoted?: boolean
}

/** A place in the HTML that becomes a link if the reader may see the target. */
export type FoundReference = {
  /** Index of the target. */
  readonly target: number
  /** HTML for readers who may not see the target, the same as if it did not exist. */
  readonly fallback: string
  /** Text as written; absent for a URL, which is shortened. */
  readonly written?: string
  /** The URL points to this note of the target. */
  readonly note?: number
}

/** HTML with places for references: `parts[0]`, `references[0]`, `parts[1]`, …; there is one part more. */
export type Rendered = {
  readonly parts: readonly string[]
  readonly references: readonly FoundReference[]
  readonly targets: readonly ReferenceTarget[]
}

/** Where a text belongs: what its references without a path and its relative links mean. */
export type MarkdownPlace =
  | {
      readonly of: 'project'
      /** As the database has it. */
      readonly full_path: string
      /** The file or wiki page that the text is; without it, relative links lead to the default branch. */
      readonly at?:
        | { readonly kind: 'files'; readonly ref: string; readonly folder: string }
        | { readonly kind: 'wiki'; readonly folder: string }
    }
  | {
      readonly of: 'group'
      readonly full_path: string
      /** The wiki page that the text is; without it, there are no relative links. */
      readonly at?: { readonly kind: 'wiki'; readonly folder: string }
    }
  | { readonly of: 'instance' }

/**
 * Safe HTML. If it is frozen, its identity names it in a key (`inputs.ts`): the same object is returned again for as long as it is
 * cached. What is too long for that is not frozen.
 */
export type Html = { readonly html: string }

export type MarkdownText = {
  readonly text: string
  readonly place: MarkdownPlace
  /** A line such as a title: without Markdown, but with links, references and emoji. */
  readonly inline?: boolean
  /** Without references and emoji. */
  readonly plain?: boolean
}

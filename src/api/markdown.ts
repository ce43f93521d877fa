import type { Ctx } from './ctx.ts'

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
  | { readonly of: 'group'; readonly full_path: string }
  | { readonly of: 'instance' }

export type MarkdownText = {
  readonly text: string
  readonly place: MarkdownPlace
  /** A line such as a title: without Markdown, but with links, references and emoji. */
  readonly inline?: boolean
  /** Without references and emoji. */
  readonly plain?: boolean
}

/** Renders Markdown. `modules/text` implements it; modules before it use it through their context. */
export type Markdown = {
  /**
   * Safe HTML of texts, in their order, with links to what the caller of `ctx` may see. Costs no statement for texts without
   * references, else one for each kind of reference. A text that is too large or too complex is returned as escaped text.
   */
  html(ctx: Ctx, texts: readonly MarkdownText[]): Promise<string[]>
}

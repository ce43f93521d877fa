declare module 'markdown-it-footnote' {
  import type MarkdownIt from 'markdown-it'

  const footnote: (md: InstanceType<typeof MarkdownIt>) => void
  export default footnote
}

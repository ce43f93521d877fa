import { escaped } from '../../../kernel/html.ts'
import { withEmoji } from '../../../markdown/emoji.ts'

/** Escapes a text for HTML and replaces short names such as `:coffee:` by emoji. */
export const renderEmoji = (text: string): string => withEmoji(escaped(text))

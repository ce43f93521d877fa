import type { ElementContent, Root } from 'hast'
import { toParse5 } from 'hast-util-to-parse5'
import { type DefaultTreeAdapterMap, serialize } from 'parse5'

/** HTML of a tree, written as the standard says. */
export const writeHtml = (tree: Root | ElementContent): string =>
  serialize(
    toParse5(
      tree.type === 'root' ? tree : { type: 'root', children: [tree] },
    ) as DefaultTreeAdapterMap['documentFragment'],
  )

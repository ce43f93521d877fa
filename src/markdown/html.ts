import type { Root } from 'hast'
import { fromParse5 } from 'hast-util-from-parse5'
import { type DefaultTreeAdapterMap, defaultTreeAdapter, html, parseFragment, type TreeAdapter } from 'parse5'
import { limits, TooComplex } from './limits.ts'

export type Adapter = TreeAdapter<DefaultTreeAdapterMap>

/**
 * Builds the tree of one document, which has `elements` already; throws when it has too many elements, or elements at too great a depth.
 */
function limitedAdapter(elements: number): Adapter {
  let depth = 0
  return {
    ...defaultTreeAdapter,
    createElement: (...about) => {
      if (++elements > limits.elements) throw new TooComplex()
      return defaultTreeAdapter.createElement(...about)
    },
    onItemPush: () => {
      if (++depth > limits.depth) throw new TooComplex()
    },
    onItemPop: () => {
      depth--
    },
  }
}

/**
 * The tree of any HTML, as a browser would parse it inside of a page. `methods` stand for those that build it, and `elements` are counted
 * as part of it.
 */
export function parseHtml(markup: string, methods: Partial<Adapter> = {}, elements = 0): Root {
  const treeAdapter = { ...limitedAdapter(elements), ...methods }
  const body = treeAdapter.createElement('body', html.NS.HTML, [])
  return fromParse5(parseFragment(body, markup, { treeAdapter })) as Root
}

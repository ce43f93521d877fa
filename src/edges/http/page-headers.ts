import type { Page, Paged } from '../../api/page.ts'

export type PageHeaders = Record<string, string>

/** Compares only names: of a parameter that is given twice the last value counts, so its values keep their order. */
function byName(one: string, other: string): number {
  const [a, b] = [nameOf(one), nameOf(other)]
  return a < b ? -1 : a > b ? 1 : 0
}

const nameOf = (pair: string) => pair.split('=', 1)[0]!

/**
 * Headers of one page. `url` is the absolute URL of the list without its query; `query` is the raw query string. Links contain
 * every parameter, sorted by name, with `page` and `per_page` filled in.
 */
export function pageHeaders(
  url: string,
  query: string,
  { rows, total, hasNext, next }: Paged<unknown>,
  page: Page,
): PageHeaders {
  const pairs = query.split('&').filter((pair) => pair !== '' && !/^(page|per_page)(=|$)/.test(pair))
  const link = (relation: string, more: Record<string, string | number>, without?: RegExp) => {
    const all = [
      ...pairs.filter((pair) => !without?.test(pair)),
      ...Object.entries(more).map(([name, value]) => `${name}=${value}`),
    ].sort(byName)
    // An unencoded `>` must not end the URL.
    return `<${url}?${all.join('&').replaceAll('>', '%3E')}>; rel="${relation}"`
  }
  if (page.keyset) {
    if (!next || rows.length === 0) return {}
    // The parameter that ends a range of ids stays: pages that follow stay in the range.
    const value = link('next', { [next.name]: next.id, per_page: page.perPage }, new RegExp(`^${next.name}(=|$)`))
    // Compat: old clients read `Links`, newer ones `Link`.
    return { link: value, links: value }
  }
  const at = (relation: string, number: number) => link(relation, { page: number, per_page: page.perPage })
  const last = total === undefined ? undefined : Math.max(1, Math.ceil(total / page.perPage))
  const previous = page.page > 1 ? page.page - 1 : undefined
  const following = hasNext ? page.page + 1 : undefined
  const headers: PageHeaders = {
    'x-page': String(page.page),
    'x-per-page': String(page.perPage),
    'x-next-page': following === undefined ? '' : String(following),
    'x-prev-page': previous === undefined ? '' : String(previous),
    link: [
      ...(previous === undefined ? [] : [at('prev', previous)]),
      ...(following === undefined ? [] : [at('next', following)]),
      at('first', 1),
      ...(last === undefined ? [] : [at('last', last)]),
    ].join(', '),
  }
  if (total !== undefined) {
    headers['x-total'] = String(total)
    headers['x-total-pages'] = String(last)
  }
  return headers
}

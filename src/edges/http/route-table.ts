/** A place in the tree of paths: what follows it, and what the path that ends here serves, by HTTP method. */
type Place<T> = {
  readonly literals: Map<string, Place<T>>
  /** Those with a longer text before the parameter come first. */
  readonly parameters: { readonly before: string; readonly place: Place<T> }[]
  readonly routes: Map<string, { readonly value: T; readonly names: readonly string[] }>
}

export type FoundRoute<T> = { readonly value: T; readonly params: Readonly<Record<string, string>> }

const newPlace = <T>(): Place<T> => ({ literals: new Map(), parameters: [], routes: new Map() })

/**
 * Finds what serves a path. Patterns consist of segments: a literal one, or a parameter such as `:id`, also after a text (`archive.:format`). A literal
 * segment precedes a parameter; where it leads nowhere for the method, the parameter is tried.
 */
export class RouteTable<T> {
  readonly #root = newPlace<T>()

  add(method: string, pattern: string, value: T): void {
    const names: string[] = []
    let place = this.#root
    for (const segment of pattern.slice(1).split('/')) {
      const at = segment.indexOf(':')
      if (at >= 0) names.push(segment.slice(at + 1))
      place = at < 0 ? literalAt(place, segment) : parameterAt(place, segment.slice(0, at))
    }
    place.routes.set(method, { value, names })
  }

  /** `path` is as the client sent it, without a query. One slash at its end is ignored. */
  find(method: string, path: string): FoundRoute<T> | undefined {
    return search(this.#root, segmentsOf(path), [], ({ routes }, values) => {
      const route = routes.get(method)
      if (!route) return undefined
      const params: Record<string, string> = {}
      route.names.forEach((name, index) => {
        params[name] = values[index]!
      })
      return { value: route.value, params }
    })
  }

  /** The HTTP methods of a path; none for an unknown one. */
  methods(path: string): string[] {
    const methods = new Set<string>()
    search(this.#root, segmentsOf(path), [], ({ routes }) => {
      for (const method of routes.keys()) methods.add(method)
    })
    return [...methods]
  }
}

function literalAt<T>({ literals }: Place<T>, text: string): Place<T> {
  const place = literals.get(text) ?? newPlace<T>()
  literals.set(text, place)
  return place
}

function parameterAt<T>({ parameters }: Place<T>, before: string): Place<T> {
  const known = parameters.find((each) => each.before === before)
  if (known) return known.place
  const place = newPlace<T>()
  parameters.push({ before, place })
  parameters.sort((a, b) => b.before.length - a.before.length)
  return place
}

/** The decoded segments of a path; none, which no pattern has, if it cannot be decoded. */
function segmentsOf(path: string): string[] {
  const segments = path.slice(1, path.endsWith('/') ? -1 : undefined).split('/')
  if (!path.includes('%')) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch {
    return []
  }
}

/** The first result of `accept` for a place that the segments lead to, in the order of preference. A parameter has at least one character. */
function search<T, R>(
  from: Place<T>,
  segments: readonly string[],
  values: readonly string[],
  accept: (place: Place<T>, values: readonly string[]) => R | undefined,
  at = 0,
): R | undefined {
  const segment = segments[at]
  if (segment === undefined) return accept(from, values)
  const literal = from.literals.get(segment)
  const found = literal && search(literal, segments, values, accept, at + 1)
  if (found) return found
  for (const { before, place } of from.parameters) {
    if (segment.length <= before.length || !segment.startsWith(before)) continue
    const found = search(place, segments, [...values, segment.slice(before.length)], accept, at + 1)
    if (found) return found
  }
  return undefined
}

/** Parameters that no code reads, each with the part of the product that does not exist yet. */
export const exceptions: Readonly<Record<string, string>> = {}

/** Settings of projects that are stored and shown and change nothing here, each with the part that would read it. */
export const shownOnly: Readonly<Record<string, string>> = {
  auto_cancel_pending_pipelines: 'pipeline runners',
  auto_devops_deploy_strategy: 'pipeline runners',
  build_coverage_regex: 'pipeline runners',
  build_git_strategy: 'pipeline runners',
  build_timeout: 'pipeline runners',
  ci_default_git_depth: 'pipeline runners',
  ci_forward_deployment_enabled: 'pipeline runners',
  external_authorization_classification_label: 'external authorization',
  packages_enabled: 'a package registry',
  service_desk_enabled: 'a service desk',
}

/** Code that stores, shows and copies settings of projects, and so has no effect. */
export const storesSettings = (path: string): boolean =>
  /^src\/modules\/(portability\/|projects\/projects\/(settings|setting-fields|entity)\.ts$|lifecycle\/forks\/service\.ts$)/.test(
    path,
  )

/** A property whose value is a schema: the declaration of a parameter or of a field. */
const declaration = /(?<![\w.])['"]?([A-Za-z_]\w*)['"]?\??:\s*(?:[A-Z]\w*\.)?[A-Z]\w*\s*\(/g
/** A text for people. */
const sentence = /'[^'\n]* [^'\n]*'/g

/** A name that is put together: a template without spaces, such as `${type}_key_restriction`. */
const template = /`([^`\s]*\$\{[^`\s]*)`/g
/** What a template inserts. */
const inserted = /\$\{[^}]*\}/

/**
 * Whether the code names something outside of declarations of schemas and of sentences: as an identifier, in SQL, as a string, or by a
 * template that yields it.
 */
export function readerOf(codes: readonly string[]): (name: string) => boolean {
  const names = new Set<string>()
  const templates: RegExp[] = []
  for (const code of codes) {
    const text = code.replace(sentence, "''").replace(declaration, '(')
    for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) names.add(name)
    for (const [, content] of text.matchAll(template)) {
      const parts = content!.split(inserted)
      // Shorter ones would match by accident.
      if (parts.join('').length >= leastFixed && parts.every((part) => /^\w*$/.test(part)))
        templates.push(new RegExp(`^${parts.join('[a-z0-9_]+')}$`))
    }
  }
  return (name) => names.has(name) || templates.some((each) => each.test(name))
}

/** Fixed characters that a template must have. */
const leastFixed = 8

/** The inputs that no code reads and that are no exceptions. */
export const unread = <T extends { readonly name: string }>(
  inputs: readonly T[],
  isRead: (name: string) => boolean,
): T[] => inputs.filter(({ name }) => !isRead(name) && exceptions[name] === undefined)

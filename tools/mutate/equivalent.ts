const notPrivate = 'A level that is not `private` is disabled (0), enabled (20) or public (30).'
const unlimited = 'The condition on limits is `true` for tokens without limits.'

/** Mutants that behave like the original, by name, each with the reason. */
export const equivalent: Readonly<Record<string, string>> = {
  'src/modules/projects/projects/queries.ts limitsColumn: caller?.limits ? sql`, ${withinLimits(caller)} as within_limits` : empty → (sql`, ${withinLimits(caller)} as within_limits`)':
    unlimited,
  'src/modules/projects/projects/queries.ts visibleProjects: caller.limits ? sql`(${visible} and ${withinLimits(caller)})` : visible → (sql`(${visible} and ${withinLimits(caller)})`)':
    unlimited,
  'src/modules/projects/projects/queries.ts visibleProject: caller.limits ? sql`(${visible} and ${withinLimits(caller)})` : visible → (sql`(${visible} and ${withinLimits(caller)})`)':
    unlimited,
  "src/modules/namespaces/namespaces/visible-groups-queries.ts visibleGroups: caller.limits ? sql`(${visible} and ${groupWithinLimits(caller, raw('g.id'))})` : visible → (sql`(${visible} and ${groupWithinLimits(caller, raw('g.id'))})`)":
    unlimited,
  "src/modules/groups/groups/queries.ts callerColumns: caller.limits ? sql`, ${groupWithinLimits(caller, raw('g.id'))} as within_limits` : empty → (sql`, ${groupWithinLimits(caller, raw('g.id'))} as within_limits`)":
    unlimited,
  'src/access/policy.ts hasFeature: private → disabled (2)': notPrivate,
  'src/access/policy.ts hasFeature: stored > featureLevels.private → >=': notPrivate,
  'src/modules/namespaces/access-index/queries.ts replaceAccess: userId === undefined ? empty : sql`and user_id = ${userId}` → (empty)':
    'Recomputing the access of all users writes the same rows as of one, at a higher cost.',
  'src/modules/accounts/users/subject.ts factsOf: internal → private':
    'A rule that is open to signed-in users on internal subjects grants them by the flag `signed_in` as well.',
  'src/modules/pushes/branch-access/collaboration.ts collaborationBranches: without || actor.deployToken':
    'No scope of a deploy token permits a push, so that a deploy token gets here only by a mistake elsewhere.',
  'src/modules/accounts/tokens/queries.ts usable: > → >=': 'They differ in the microsecond in which a token ends.',
  'src/modules/pushes/pushes/configured-rule.ts byType: !to → to':
    'Then git is asked for the types of what is on branches, too, which are commits in any case.',
}

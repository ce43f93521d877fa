import { startNamespaceIdsAt } from '../../../../../test/tables/groups.ts'
import { startProjectIdsAtMillions } from '../../../../../test/tables/projects.ts'
import { unique, type World } from '../../../../../test/world.ts'
import { creation } from '../../../../settings/declared/creation.ts'
import { made, newProject, newUser, showEffects } from './testing.ts'

const newGroup = async ({ root }: World) => {
  const path = unique('made')
  return (await root.post('/groups', { name: path, path })).json
}

/** A group with a fixed id, so that a setting can name it. */
async function groupNumbered(world: World, id: number): Promise<{ id: number }> {
  const known = await world.root.get(`/groups/${id}`)
  if (known.status === 200) return known.json
  await startNamespaceIdsAt(world, id)
  return newGroup(world)
}

showEffects(
  creation,
  [
    [
      'D2-SETTINGS-DEFAULT-VISIBILITY default_project_visibility',
      { default_project_visibility: 'internal' },
      async (world) => (await newProject(world)).visibility,
      'private',
      'internal',
    ],
    [
      'default_group_visibility',
      { default_group_visibility: 'public' },
      async (world) => (await newGroup(world)).visibility,
      'private',
      'public',
    ],
    [
      'default_snippet_visibility',
      { default_snippet_visibility: 'public' },
      async ({ root }) => (await root.post('/snippets', { title: 'x', file_name: 'x', content: 'x' })).json.visibility,
      'private',
      'public',
    ],
    [
      'restricted_visibility_levels',
      { restricted_visibility_levels: ['public'] },
      async (world) => (await (await world.user()).post('/projects', made({ visibility: 'public' }))).status,
      201,
      400,
    ],
    [
      'D2-SETTINGS-PROJECTS-LIMIT default_projects_limit',
      { default_projects_limit: 3 },
      async (world) => (await newUser(world)).projects_limit,
      100_000,
      3,
    ],
    [
      'D2-SETTINGS-PROJECT-CREATION default_project_creation',
      { default_project_creation: 0 },
      async (world) => (await newGroup(world)).project_creation_level,
      'developer',
      'noone',
    ],
    [
      'D2-SETTINGS-BRANCH-PROTECTION default_branch_protection',
      { default_branch_protection: 0 },
      async (world) => {
        const { id } = await newProject(world, { initialize_with_readme: true })
        return (await world.root.get(`/projects/${id}/protected_branches`)).json.length
      },
      1,
      0,
    ],
    [
      'default_project_deletion_protection',
      { default_project_deletion_protection: true },
      async (world) => {
        const ann = await world.user()
        const { id } = (await ann.post('/projects', made())).json
        return (await ann.delete(`/projects/${id}`)).status
      },
      202,
      403,
    ],
    [
      'deletion_adjourned_period',
      { deletion_adjourned_period: 0 },
      async (world) => {
        const { id } = await world.project()
        await world.root.delete(`/projects/${id}`)
        return (await world.root.get(`/projects/${id}`)).status
      },
      200,
      404,
    ],
    [
      'protected_ci_variables',
      { protected_ci_variables: true },
      async (world) => {
        const { id } = await newProject(world)
        return (await world.root.post(`/projects/${id}/variables`, { key: 'A', value: 'b' })).json.protected
      },
      false,
      true,
    ],
    [
      'shared_runners_enabled',
      { shared_runners_enabled: false },
      async (world) => (await newProject(world)).shared_runners_enabled,
      true,
      false,
    ],
    [
      'auto_devops_enabled',
      { auto_devops_enabled: false },
      async (world) => (await newProject(world)).auto_devops_enabled,
      true,
      false,
    ],
    [
      'default_ci_config_path',
      { default_ci_config_path: 'ci/all.yml' },
      async (world) => (await newProject(world)).ci_config_path,
      null,
      'ci/all.yml',
    ],
    [
      'custom_project_templates_group_id',
      { custom_project_templates_group_id: 7_000_000 },
      async (world) => {
        const template = await newProject(world, { namespace_id: (await groupNumbered(world, 7_000_000)).id })
        const attributes = made({ use_custom_template: true, template_project_id: template.id })
        return (await world.root.post('/projects', attributes)).status
      },
      400,
      201,
    ],
    [
      'file_template_project_id',
      { file_template_project_id: 7_000_000 },
      async (world) => {
        await startProjectIdsAtMillions(world)
        const { id } = await newProject(world, { initialize_with_readme: true })
        const file = { branch: 'master', content: 'x', commit_message: 'x' }
        await world.root.post(`/projects/${id}/repository/files/gitignore%2FOurs.gitignore`, file)
        return (await world.anonymous.get('/templates/gitignores/Ours')).status
      },
      404,
      200,
    ],
  ],
  // Tested elsewhere, because it takes several steps.
  ['limit_projects_in_groups_api'],
)

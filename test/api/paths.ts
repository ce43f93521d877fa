import { type Client, unique, type World } from '../world.ts'

/** A path of a declared endpoint with a value for each parameter; most of the values exist. */
export async function concretePath(path: string, who: Client, world: World): Promise<string> {
  const project = (await world.root.post('/projects', { name: unique('concrete') })).json.id
  const group = (await world.root.post('/groups', { name: unique('concrete'), path: unique('concrete') })).json.id
  return path
    .replace('/projects/user/:id', `/projects/user/${who.id}`)
    .replace('/projects/:id', `/projects/${project}`)
    .replace('/groups/:id', `/groups/${group}`)
    .replace(/:user_id\b|:id\b/, String(who.id))
    .replace(/:\w+/g, '1')
}

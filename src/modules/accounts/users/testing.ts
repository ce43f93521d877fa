import { mailRows } from '../../../../test/tables/instance.ts'
import type { Answer, World } from '../../../../test/world.ts'

/** Links mailed to an address, oldest first. */
export const linksTo = async (world: World, address: string): Promise<string[]> =>
  (await mailRows(world, address, 'body')).flatMap(({ body }) => /^http\S+token=\S+$/m.exec(body)?.[0] ?? [])

/** Submits an HTML form. */
export const sendForm = (world: World, path: string, fields: Record<string, string>): Promise<Answer> =>
  world.anonymous.send('POST', `/${path}`, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })

/** Submits the form of the page behind a link. */
export const follow = (world: World, link: string, more: Record<string, string> = {}): Promise<Answer> => {
  const { pathname, searchParams } = new URL(link)
  return sendForm(world, pathname, { token: searchParams.get('token')!, ...more })
}

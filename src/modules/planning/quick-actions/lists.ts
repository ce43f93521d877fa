/** The names by which the common update changes a list: all of it, or what it adds and removes. */
type ListNames<K> = { readonly all: K; readonly added: K; readonly removed: K }

type Lists = { [name: string]: readonly unknown[] }

/*
 * Quick actions of one text take effect in their order. The common update adds first and then removes, so an action that removes need
 * not look at what earlier ones add.
 */

export function addToList<E, K extends keyof E & string>(
  edit: E,
  { added, removed }: ListNames<K>,
  items: NonNullable<E[K]> & readonly unknown[],
): void {
  const lists = edit as Lists
  lists[added] = [...(lists[added] ?? []), ...items]
  const stillRemoved = lists[removed]?.filter((each) => !items.includes(each)) ?? []
  if (stillRemoved.length > 0) lists[removed] = stillRemoved
  else delete lists[removed]
}

export function removeFromList<E, K extends keyof E & string>(
  edit: E,
  { removed }: ListNames<K>,
  items: NonNullable<E[K]> & readonly unknown[],
): void {
  const lists = edit as Lists
  lists[removed] = [...(lists[removed] ?? []), ...items]
}

export function replaceList<E, K extends keyof E & string>(
  edit: E,
  { all, added, removed }: ListNames<K>,
  items: NonNullable<E[K]> & readonly unknown[],
): void {
  const lists = edit as Lists
  delete lists[added]
  delete lists[removed]
  lists[all] = items
}

/** Plans from small to large; each offers what those before it offer. */
export const plans = ['core', 'starter', 'premium', 'ultimate'] as const

export type Plan = (typeof plans)[number]

/** The smallest plan that offers a parameter; none of them is `core`, which offers whatever is not marked. */
export type Tier = Exclude<Plan, 'core'>

export const planOffers = (plan: Plan, tier: Plan): boolean => plans.indexOf(plan) >= plans.indexOf(tier)

/* SPDX-License-Identifier: Apache-2.0 */
/* Which findings are shown, and in which order: those of the critical path and of transactions. */
#include "report/explanation/explain.h"

#define LEAST_SHARE 0.01

const struct wio_txn_findings *wio_report_lost(const struct wio_report_explain *how)
{
    return how->transactions == NULL ? NULL : how->transactions->lost;
}

bool wio_report_is_over(const struct wio_finding *finding, const struct wio_report_explain *how)
{
    return how->fail_over >= 0 && !finding->is_general && 100 * finding->share > how->fail_over;
}

bool wio_report_is_shown(const struct wio_finding *finding, const struct wio_report_explain *how)
{
    return finding->seconds > 0 &&
           (how->is_all || finding->share >= LEAST_SHARE || wio_report_is_over(finding, how));
}

bool wio_report_is_txn_over(const struct wio_txn_finding *finding,
                            const struct wio_report_explain *how)
{
    return how->fail_over >= 0 && !wio_loss_words(finding->loss)->is_general &&
           100 * finding->share > how->fail_over;
}

bool wio_report_is_txn_shown(const struct wio_txn_finding *finding,
                             const struct wio_report_explain *how)
{
    return finding->seconds > 0 &&
           (how->is_all || finding->share >= LEAST_SHARE || wio_report_is_txn_over(finding, how));
}

bool wio_report_order_next(struct wio_report_order *order,
                           const struct wio_explanation *explanation,
                           const struct wio_report_explain *how, bool *is_txn_out, uint32_t *at_out)
{
    const struct wio_findings *findings = &explanation->findings;
    const struct wio_txn_findings *txns = wio_report_lost(how);
    uint32_t lost = txns == NULL ? 0 : txns->count;
    while (order->next < findings->count &&
           !wio_report_is_shown(&findings->items[order->next], how)) {
        order->next++;
    }
    while (order->next_txn < lost && !wio_report_is_txn_shown(&txns->items[order->next_txn], how)) {
        order->next_txn++;
    }
    if (order->next == findings->count && order->next_txn == lost) {
        return false;
    }
    *is_txn_out = order->next == findings->count ||
                  (order->next_txn < lost &&
                   txns->items[order->next_txn].seconds > findings->items[order->next].seconds);
    *at_out = *is_txn_out ? order->next_txn++ : order->next++;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Succeeds where its library has read something. */
int early_letters(void);

int main(void)
{
    return early_letters() > 0 ? 0 : 1;
}

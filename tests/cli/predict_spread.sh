# SPDX-License-Identifier: Apache-2.0
# How far the total moves as bw_dev is off by its spread: not at all, as much, I/O a multiple where it hovers.
sed 's/"bw_dev": 1e8/"bw_dev": 1e8, "spread": {"bw_dev": 0.05}/' "$DATA/predict/host.json" > host.json
echo '{"file": "a", "offset": 0, "size": 4096}' > free
echo '{"file": "a", "offset": 0, "size": 1000000000, "method": "direct"}' > direct
for list in free direct; do
    whyio predict --ops=$list --host=host.json | grep -A1 ^total
    whyio predict --ops=$list --host=host.json --format=json | grep -oE '"(total|io)_(low|high)_s": [^,]*'
    whyio predict --ops=$list --host="$DATA/predict/host.json" --format=json | grep -oE '"(total|io)_(low|high)_s": [^,]*'
done
whyio predict --ops=- --host=host.json < direct | grep -A1 ^total
python3 -c '
for i in range(60):
    print("{\"file\": \"a\", \"offset\": %d, \"size\": 10000000, \"delay_s\": 0.1}" % (i * 10000000))' > hovering
whyio predict --ops=hovering --host=host.json | grep -A1 ^total

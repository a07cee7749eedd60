# SPDX-License-Identifier: Apache-2.0
# The picture of a trace: well-formed, ranks in the order of their numbers, also where all that
# happened took no time, and a message where nothing happened.
timeline() {
    python3 "$SOURCE/scripts/timeline.py" "$@"
}
make_trace checkpoint checkpoint
whyio dump checkpoint | timeline --title='a < b' > picture.svg
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("picture.svg")'
grep -c '<title>pwrite' picture.svg
for rank in 10 2; do
    echo "{\"op\": \"write\", \"path\": \"/a\", \"rank\": $rank, \"pid\": 1, \"t_ns\": 5, \"dur_ns\": 0, \"size\": 1}"
done | timeline | grep -o '>rank [0-9]*<'
echo '{"op": "printf", "path": "/a", "rank": 1, "pid": 1, "t_ns": 5, "dur_ns": null, "size": 1}' | timeline | grep -c '<title>printf'
make_trace empty empty
whyio dump empty | timeline || echo "exit status $?"
